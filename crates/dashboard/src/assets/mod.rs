//! The style sheet, the script and the picture, with the hash of their bytes in their address.
//!
//! An address never changes its content, so that browsers keep it for good.

/// A file that pages refer to.
#[derive(Debug)]
pub struct Asset {
    /// What it is called: `style.css`.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
    /// Its media type.
    pub media_type: &'static str,
}

/// The style sheet.
pub const STYLE: Asset = Asset {
    name: "style.css",
    bytes: SQUEEZED.0.split_at(SQUEEZED.1).0,
    media_type: "text/css; charset=utf-8",
};

/// The script.
pub const SCRIPT: Asset = Asset {
    name: "sluice.js",
    bytes: include_bytes!("sluice.js"),
    media_type: "text/javascript; charset=utf-8",
};

/// The picture in a browser's tab.
pub const ICON: Asset =
    Asset { name: "icon.svg", bytes: include_bytes!("icon.svg"), media_type: "image/svg+xml" };

/// Every file that pages refer to.
pub const ASSETS: [Asset; 3] = [STYLE, SCRIPT, ICON];

/// The style sheet without what only its readers need, and its length.
static SQUEEZED: ([u8; include_bytes!("style.css").len()], usize) =
    squeezed(include_bytes!("style.css"));

/// A style sheet without comments, and with a blank only where one means something.
const fn squeezed<const LENGTH: usize>(text: &[u8; LENGTH]) -> ([u8; LENGTH], usize) {
    let (mut kept, mut length) = ([0; LENGTH], 0);
    let mut at = 0;
    while at < LENGTH {
        if text[at] == b'/' && at + 1 < LENGTH && text[at + 1] == b'*' {
            while at + 1 < LENGTH && !(text[at] == b'*' && text[at + 1] == b'/') {
                at += 1;
            }
            at += 2;
            continue;
        }
        let is_blank = text[at].is_ascii_whitespace();
        let after = if length == 0 { b' ' } else { kept[length - 1] };
        // A colon with a blank after it stands in a rule; selectors have blanks only before it.
        if is_blank && (after == b' ' || after == b':' || separates(after)) {
            at += 1;
            continue;
        }
        // A blank before a separator, and the last semicolon of a rule, go again.
        let is_needless = separates(text[at]) && after == b' ' || text[at] == b'}' && after == b';';
        if is_needless && length > 0 {
            length -= 1;
        }
        kept[length] = if is_blank { b' ' } else { text[at] };
        length += 1;
        at += 1;
    }
    (kept, length)
}

const fn separates(byte: u8) -> bool {
    matches!(byte, b'{' | b'}' | b';' | b',' | b'>')
}

impl Asset {
    /// The first digits of the hash of its bytes.
    pub fn hash(&self) -> String {
        blake3::hash(self.bytes).to_hex()[..16].to_owned()
    }

    /// Where it is: `/assets/style.0123456789abcdef.css`.
    pub fn path(&self) -> String {
        let (stem, extension) = self.name.rsplit_once('.').unwrap_or((self.name, ""));
        format!("/assets/{stem}.{}.{extension}", self.hash())
    }

    /// The value of `ETag`.
    pub fn etag(&self) -> String {
        format!("\"{}\"", self.hash())
    }
}

/// The file at an address, whatever its hash is: a page of the version before gets what there is.
pub fn find(path: &str) -> Option<&'static Asset> {
    static TABLE: [Asset; 3] = ASSETS;
    let (stem, rest) = path.strip_prefix("/assets/")?.split_once('.')?;
    let (_, extension) = rest.split_once('.')?;
    TABLE.iter().find(|asset| asset.name.split_once('.') == Some((stem, extension)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_is_found_at_its_own_address() {
        for asset in &ASSETS {
            assert_eq!(find(&asset.path()).map(|found| found.name), Some(asset.name));
            assert_eq!(asset.etag().len(), 18);
        }
        for path in
            ["/assets/style.css", "/assets/../style.x.css", "/assets/none.0.css", "/style.0.css"]
        {
            assert!(find(path).is_none(), "{path}");
        }
    }

    #[test]
    fn a_style_sheet_loses_what_only_its_readers_need() {
        const TEXT: &[u8; 68] =
            b"/* a */ a > b , c :hover {\n  margin: calc(1px + 2px) 0; top: 0;\n}\n  ";
        let (kept, length) = squeezed(TEXT);
        let text = std::str::from_utf8(&kept[..length]).unwrap();
        assert_eq!(text, "a>b,c :hover{margin:calc(1px + 2px) 0;top:0}");
    }

    #[test]
    fn what_every_page_loads_is_light() {
        assert!(STYLE.bytes.len() < 20_000, "{} bytes of style", STYLE.bytes.len());
        assert!(SCRIPT.bytes.len() < 30_000, "{} bytes of script", SCRIPT.bytes.len());
        assert!(ICON.bytes.len() < 1_000);
    }

    #[test]
    fn neither_style_nor_script_refers_to_others() {
        for asset in [&STYLE, &SCRIPT] {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            for forbidden in ["http:", "https:", "@import", "eval(", "new Function", "innerHTML"] {
                assert!(!text.contains(forbidden), "{} in {}", forbidden, asset.name);
            }
        }
    }
}
