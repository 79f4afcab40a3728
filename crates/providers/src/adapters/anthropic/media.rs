//! Images and documents: where OpenAI has one URL, Anthropic tells data from addresses.

use std::borrow::Cow;

use serde::Deserialize;
use sluice_core::json::{JsonText, RawJson};

use super::unsupported;
use super::wire::{Block, CacheControl, MediaSource};
use crate::error::Unsupported;

/// The types of image that Anthropic takes ("Vision").
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// An image by its URL; `field` is where it stands in the request.
pub(super) fn image<'a>(
    url: &'a JsonText,
    cache_control: Option<CacheControl<'a>>,
    field: impl Fn() -> String,
) -> Result<Block<'a>, Unsupported> {
    let field = || format!("{}.image_url.url", field());
    let source = match Address::of(url.decode()) {
        Address::Https(url) => MediaSource::Url { url },
        Address::Data { media_type, data } if IMAGE_TYPES.contains(&&*media_type) => {
            MediaSource::Base64 { media_type, data }
        }
        Address::Data { .. } => {
            let types = "a JPEG, PNG, GIF or WebP image";
            return Err(unsupported(field(), format!("is not {types}, which Anthropic wants")));
        }
        Address::Other => {
            let reason = "is neither an https URL nor base64 data, which is what Anthropic takes";
            return Err(unsupported(field(), reason));
        }
    };
    Ok(Block::Image { source, cache_control })
}

#[derive(Deserialize)]
struct FilePart {
    file: Option<File>,
    cache_control: Option<Mark>,
}

#[derive(Deserialize)]
struct File {
    file_data: Option<String>,
    filename: Option<String>,
}

#[derive(Deserialize)]
struct Mark {
    ttl: Option<String>,
}

/// A `file` part: a PDF, whose data is at hand.
pub(super) fn document<'a>(
    part: &RawJson,
    field: impl Fn() -> String,
) -> Result<Block<'a>, Unsupported> {
    let refuse = |reason: &str| Err(unsupported(format!("{}.file", field()), reason));
    let Ok(FilePart { file: Some(file), cache_control }) = part.decode::<FilePart>() else {
        return refuse("is not a file as OpenAI writes one");
    };
    let Some(data) = file.file_data else {
        return refuse("has no `file_data`; files that were uploaded elsewhere are out of reach");
    };
    let source = match Address::of(Cow::Owned(data)) {
        Address::Data { media_type, data } if media_type == "application/pdf" => {
            MediaSource::Base64 { media_type, data }
        }
        _ => return refuse("is not a PDF as a base64 data URL, the one file that Anthropic takes"),
    };
    let cache_control = cache_control.map(|mark| CacheControl::new(mark.ttl.map(Cow::Owned)));
    Ok(Block::Document { source, title: file.filename, cache_control })
}

enum Address<'a> {
    Https(Cow<'a, str>),
    Data { media_type: String, data: Cow<'a, str> },
    Other,
}

impl<'a> Address<'a> {
    fn of(url: Cow<'a, str>) -> Self {
        let begins = |prefix: &str| {
            url.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        };
        if begins("https://") {
            return Self::Https(url);
        }
        if !begins("data:") {
            return Self::Other;
        }
        let Some(comma) = url.find(',') else {
            return Self::Other;
        };
        let Some(head) = url.get("data:".len()..comma) else {
            return Self::Other;
        };
        let mut words = head.split(';').map(str::trim);
        let media_type = words.next().unwrap_or("").to_ascii_lowercase();
        if !words.any(|word| word.eq_ignore_ascii_case("base64")) {
            return Self::Other;
        }
        let media_type = match media_type.as_str() {
            "image/jpg" => "image/jpeg".to_owned(),
            _ => media_type,
        };
        let data = match url {
            Cow::Borrowed(url) => Cow::Borrowed(url.get(comma + 1..).unwrap_or("")),
            Cow::Owned(mut url) => Cow::Owned(url.split_off(comma + 1)),
        };
        Self::Data { media_type, data }
    }
}
