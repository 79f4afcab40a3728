//! Images, audio and files of a prompt: inline as bytes, or as an address that Gemini fetches.
//!
//! Sources: the Gemini API guides "Image understanding" and "Audio understanding" (media types),
//! "File input methods" (public and signed `https:` addresses as `fileUri`, not for Gemini 2.0).

use std::borrow::Cow;

use serde::Deserialize;
use sluice_core::json::RawJson;

use super::generation::Generation;
use super::unsupported;
use super::wire::{Blob, FileData, PartData};
use crate::error::Unsupported;

/// Image types that Gemini takes.
const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// Audio formats that Gemini takes; its type is `audio/` and this.
const AUDIO: [&str; 6] = ["wav", "mp3", "aiff", "aac", "ogg", "flac"];

/// An image by its URL; `field` is the path of the part.
pub(super) fn image<'a>(
    url: Cow<'a, str>,
    generation: Generation,
    field: &str,
) -> Result<PartData<'a>, Unsupported> {
    if is_data_url(&url) {
        return inline_image(url, field).map(PartData::InlineData);
    }
    fetched(url, generation, &format!("{field}.image_url.url"))
}

/// An image whose bytes are in its `data:` URL.
pub(super) fn inline_image<'a>(url: Cow<'a, str>, field: &str) -> Result<Blob<'a>, Unsupported> {
    let field = format!("{field}.image_url.url");
    let mut blob = inline(url, &field)?;
    if blob.mime_type == "image/jpg" {
        blob.mime_type = Cow::Borrowed("image/jpeg");
    }
    if !IMAGES.contains(&&*blob.mime_type) {
        let reason = "holds an image of a type that Gemini does not take; it takes PNG, JPEG, \
                      WebP, HEIC and HEIF";
        return Err(unsupported(field, reason));
    }
    Ok(blob)
}

/// A part of a type that has no name in Sluice's vocabulary; `field` is its path.
pub(super) fn other<'a>(
    kind: &str,
    raw: &'a RawJson,
    generation: Generation,
    field: &str,
) -> Result<PartData<'a>, Unsupported> {
    let part: OtherPart<'a> = raw.decode().map_err(|_| {
        unsupported(field, format!("is not a part of type `{kind}` in its documented form"))
    })?;
    match part {
        OtherPart { input_audio: Some(audio), .. } => self::audio(audio, field),
        OtherPart { file: Some(file), .. } => self::file(file, generation, field),
        OtherPart { refusal: Some(refusal), .. } => Ok(PartData::Text(refusal)),
        _ => Err(unsupported(field, format!("is of type `{kind}`, which Gemini does not take"))),
    }
}

fn audio<'a>(audio: InputAudio<'a>, field: &str) -> Result<PartData<'a>, Unsupported> {
    let Some(format) = AUDIO.into_iter().find(|format| *format == audio.format) else {
        let reason = format!("is not a format that Gemini takes; it takes {}", AUDIO.join(", "));
        return Err(unsupported(format!("{field}.input_audio.format"), reason));
    };
    Ok(PartData::InlineData(Blob {
        mime_type: Cow::Owned(format!("audio/{format}")),
        data: audio.data,
    }))
}

fn file<'a>(
    file: File<'a>,
    generation: Generation,
    field: &str,
) -> Result<PartData<'a>, Unsupported> {
    let Some(data) = file.file_data else {
        let reason = "names an uploaded file, which Gemini cannot read; send it as `file_data`";
        return Err(unsupported(format!("{field}.file.file_id"), reason));
    };
    let field = format!("{field}.file.file_data");
    if is_data_url(&data) {
        return inline(data, &field).map(PartData::InlineData);
    }
    fetched(data, generation, &field)
}

/// An address that Gemini fetches itself.
fn fetched<'a>(
    url: Cow<'a, str>,
    generation: Generation,
    field: &str,
) -> Result<PartData<'a>, Unsupported> {
    if !url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
        let reason = "is neither a `data:` nor an `https:` URL, which is what Gemini takes";
        return Err(unsupported(field, reason));
    }
    if generation == Generation::Early {
        let reason = "is an address, which this model does not fetch; send a `data:` URL";
        return Err(unsupported(field, reason));
    }
    Ok(PartData::FileData(FileData { mime_type: type_by_ending(&url), file_uri: url }))
}

/// The media type that an address' ending tells; Gemini looks itself where it tells none.
fn type_by_ending(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        _ => return None,
    })
}

fn is_data_url(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes in a `data:` URL (RFC 2397), which have to be in base64 and to say their type.
fn inline<'a>(url: Cow<'a, str>, field: &str) -> Result<Blob<'a>, Unsupported> {
    let found = match url {
        Cow::Borrowed(url) => split_data_url(url)
            .map(|(kind, data)| Blob { mime_type: kind.into(), data: Cow::Borrowed(data) }),
        Cow::Owned(url) => split_data_url(&url)
            .map(|(kind, data)| Blob { mime_type: kind.into(), data: data.to_owned().into() }),
    };
    found
        .ok_or_else(|| unsupported(field, "is a `data:` URL without a media type or not in base64"))
}

/// The media type, in small letters, and the base64 text of a `data:` URL.
fn split_data_url(url: &str) -> Option<(String, &str)> {
    let (head, data) = url.get(5..)?.split_once(',')?;
    let (kind, parameters) = head.split_once(';')?;
    let is_base64 = parameters.rsplit(';').next()?.trim().eq_ignore_ascii_case("base64");
    let kind = kind.trim().to_ascii_lowercase();
    (is_base64 && kind.contains('/')).then_some((kind, data))
}

#[derive(Deserialize)]
struct OtherPart<'a> {
    #[serde(borrow)]
    input_audio: Option<InputAudio<'a>>,
    #[serde(borrow)]
    file: Option<File<'a>>,
    refusal: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct InputAudio<'a> {
    #[serde(borrow)]
    data: Cow<'a, str>,
    #[serde(borrow)]
    format: Cow<'a, str>,
}

#[derive(Deserialize)]
struct File<'a> {
    file_data: Option<Cow<'a, str>>,
}
