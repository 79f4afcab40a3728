//! What holds for every page in every one of its sample states.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use scraper::{ElementRef, Html, Selector};
use sluice_dashboard::{Sample, samples};

fn all(document: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    document.select(&selector).map(|element| element.html()).collect()
}

fn elements<'a>(document: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).unwrap();
    document.select(&selector).collect()
}

/// Calls `check` with every sample, and names the sample where it finds faults.
fn check(check: impl Fn(&Sample, &Html) -> Vec<String>) {
    let mut faults = Vec::new();
    for sample in samples().unwrap() {
        let document = Html::parse_document(&sample.html);
        for fault in check(&sample, &document) {
            let fault: String = fault.chars().take(300).collect();
            faults.push(format!("{}/{}: {fault}", sample.page, sample.state));
        }
    }
    let shown: Vec<_> = faults.iter().take(40).cloned().collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), shown.join("\n"));
}

#[test]
fn every_page_has_its_states() {
    let mut states: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for sample in samples().unwrap() {
        assert!(
            states.entry(sample.page).or_default().insert(sample.state),
            "{}/{} twice",
            sample.page,
            sample.state
        );
    }
    assert_eq!(states.len(), 37);
    // Forms that nobody has filled in hold nothing that somebody else wrote.
    for (page, states) in
        states.iter().filter(|(page, _)| !["welcome", "sign-in", "sign-in-code"].contains(page))
    {
        for state in ["typical", "long-names", "right-to-left", "markup", "endless"] {
            assert!(states.contains(state), "{page} has no state {state}");
        }
    }
}

#[test]
fn pages_are_well_formed() {
    check(|_, document| document.errors.iter().map(ToString::to_string).collect());
}

#[test]
fn pages_keep_the_content_security_policy() {
    check(|_, document| {
        let mut faults = all(document, "[style], style, iframe, object, embed, base");
        for element in elements(document, "*") {
            for (name, value) in element.value().attrs() {
                let is_address =
                    ["href", "src", "action", "formaction", "data-live", "data-stream"]
                        .contains(&name);
                if name.starts_with("on") {
                    faults.push(element.html());
                }
                if is_address
                    && !(value.starts_with('/') && !value.starts_with("//")
                        || value.starts_with('#')
                        // An authenticator's own scheme, which leads to no host.
                        || value.starts_with("otpauth://totp/"))
                {
                    faults.push(format!("{name}={value}"));
                }
            }
        }
        for script in elements(document, "script") {
            if script.attr("src").is_none() || script.inner_html() != "" {
                faults.push(script.html());
            }
        }
        faults
    });
}

#[test]
fn pages_are_light() {
    check(|sample, _| {
        let bytes = sample.html.len();
        // A conversation is told in whole, however long its messages are.
        let most = if sample.page == "playground" { 300_000 } else { 150_000 };
        if bytes < most { vec![] } else { vec![format!("{bytes} bytes")] }
    });
}

/// Text that could turn the direction of what stands around it is isolated.
#[test]
fn foreign_text_is_isolated() {
    check(|_, document| {
        let mut faults = Vec::new();
        for node in document.tree.nodes() {
            let Some(text) = node.value().as_text().filter(|text| text.contains('\u{202E}')) else {
                continue;
            };
            let is_isolated = node.ancestors().any(|above| {
                let isolating = ["bdi", "option", "textarea", "title"];
                above
                    .value()
                    .as_element()
                    .is_some_and(|element| isolating.contains(&element.name()))
            });
            if !is_isolated {
                faults.push(text.to_string());
            }
        }
        faults
    });
}

#[test]
fn markup_in_names_stays_text() {
    check(|sample, document| {
        let mut faults = all(document, "script:not([src]), [onerror], img");
        if sample.state.contains("markup")
            && sample.html.contains("alert(1)")
            && !sample.html.contains("&lt;script&gt;alert(1)&lt;/script&gt;")
        {
            faults.extend(
                sample.html.contains("<script>alert").then(|| "a script of a name".to_owned()),
            );
        }
        faults
    });
}

#[test]
fn ids_are_unique_and_references_lead_somewhere() {
    check(|_, document| {
        let mut faults = Vec::new();
        let mut ids = HashSet::new();
        for element in elements(document, "[id]") {
            let id = element.attr("id").unwrap();
            if !ids.insert(id.to_owned()) {
                faults.push(format!("id {id} twice"));
            }
        }
        for name in ["for", "aria-describedby", "popovertarget", "data-copy"] {
            for element in elements(document, &format!("[{name}]")) {
                for id in element.attr(name).unwrap().split_whitespace() {
                    if !ids.contains(id) {
                        faults.push(format!("{name}={id} leads nowhere"));
                    }
                }
            }
        }
        faults
    });
}

#[test]
fn every_field_has_a_label_and_every_button_a_name() {
    check(|_, document| {
        let labels: HashSet<_> = elements(document, "label[for]")
            .iter()
            .filter_map(|label| label.attr("for"))
            .map(str::to_owned)
            .collect();
        let mut faults = Vec::new();
        for field in elements(document, "input:not([type=hidden]), select, textarea") {
            let is_inside = field.ancestors().any(|above| {
                above.value().as_element().is_some_and(|element| element.name() == "label")
            });
            let is_labelled = field.attr("id").is_some_and(|id| labels.contains(id));
            if !is_inside && !is_labelled && field.attr("aria-label").is_none() {
                faults.push(field.html());
            }
        }
        for element in elements(document, "button, a, summary, th, h1, h2, h3, legend, label") {
            if element.text().all(|text| text.trim().is_empty()) {
                faults.push(format!("nothing in {}", element.html()));
            }
        }
        for svg in elements(document, "svg") {
            if svg.attr("aria-hidden").is_none() && svg.attr("aria-label").is_none() {
                faults.push(format!("no words for {}", svg.html()));
            }
        }
        faults
    });
}

#[test]
fn headings_are_in_order() {
    check(|_, document| {
        let mut faults = Vec::new();
        if all(document, "h1").len() != 1 {
            faults.push(format!("{} first headings", all(document, "h1").len()));
        }
        let mut last = 0;
        for heading in elements(document, "h1, h2, h3") {
            let level: u32 = heading.value().name()[1..].parse().expect("a level");
            if level > last + 1 {
                faults.push(format!("{} after level {last}", heading.html()));
            }
            last = level;
        }
        faults
    });
}

#[test]
fn every_form_that_changes_something_has_a_token() {
    // Whoever has no session yet has no token; the browser says where these forms are from.
    let outside = ["welcome", "invite", "sign-in", "sign-in-code"];
    check(|sample, document| {
        if outside.contains(&sample.page) {
            return Vec::new();
        }
        let token = Selector::parse("input[name=csrf]").unwrap();
        let forms = elements(document, "form[method=post]").into_iter();
        forms.filter(|form| form.select(&token).next().is_none()).map(|form| form.html()).collect()
    });
}

#[test]
fn every_chart_has_its_table_and_its_file() {
    check(|_, document| {
        let table = Selector::parse("details.data table").unwrap();
        let file = Selector::parse("a.csv").unwrap();
        let charts = elements(document, "figure.chart").into_iter();
        charts
            .filter(|chart| {
                chart.select(&table).next().is_none() || chart.select(&file).next().is_none()
            })
            .map(|chart| chart.html())
            .collect()
    });
}

/// Classes without a rule are typing errors, rules without a class are dead weight.
#[test]
fn classes_and_rules_belong_together() {
    let style = std::str::from_utf8(sluice_dashboard::assets::STYLE.bytes).unwrap();
    let script = std::str::from_utf8(sluice_dashboard::assets::SCRIPT.bytes).unwrap();
    let mut used = BTreeSet::new();
    for sample in samples().unwrap() {
        for element in elements(&Html::parse_document(&sample.html), "[class]") {
            used.extend(element.value().classes().map(str::to_owned));
        }
    }
    let mut ruled = BTreeSet::new();
    let selectors = style.split('}').map(|rule| rule.split('{').collect::<Vec<_>>());
    for parts in selectors {
        let heads = &parts[..parts.len().saturating_sub(1)];
        for word in heads.iter().flat_map(|head| head.split('.').skip(1)) {
            let end =
                word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(word.len());
            ruled.insert(word[..end].to_owned());
        }
    }
    let is_in_script = |class: &&String| !script.contains(class.as_str());
    let unruled: Vec<_> = used
        .difference(&ruled)
        .filter(|class| {
            !["plain", "csv", "labels", "axis", "mine", "checks"].contains(&class.as_str())
        })
        .filter(is_in_script)
        .collect();
    let unused: Vec<_> = ruled
        .difference(&used)
        .filter(is_in_script)
        .filter(|class| class.parse::<u32>().is_err())
        // Each place of a closed set of colours has a rule, whether a sample uses it or not.
        .filter(|class| {
            let is_series = class.len() == 2 && class.starts_with('c');
            !class.starts_with("w-") && !is_series
        })
        .collect();
    assert!(
        unruled.is_empty() && unused.is_empty(),
        "without a rule: {unruled:?}; without use: {unused:?}"
    );
}
