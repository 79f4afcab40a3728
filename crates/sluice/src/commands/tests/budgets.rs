//! Budgets on the command line, and their page in the manual.

use super::{FixedEnvironment, House, Settings};

const PAGE: &str = include_str!("../../../../../docs/governance.md");

#[test]
fn the_manuals_file_is_a_configuration() {
    let (_, from_file) = PAGE.split_once("```toml\n").unwrap();
    let (file, _) = from_file.split_once("```").unwrap();
    let settings = Settings::from_text(None, file, &FixedEnvironment::default());
    let declared = settings.unwrap_or_else(|problems| panic!("{problems}")).organisation;
    assert_eq!(declared.budgets.len(), 3);
}

#[tokio::test]
async fn what_is_not_one_budget_is_named_by_its_id() {
    let house = House::new();
    house.done("departments create sales").await;
    let none = house.run("budgets show department:sales").await;
    assert!(none.err.contains("there is no budget \"department:sales\""), "{}", none.err);
    for measure in ["usd", "tokens"] {
        let line = format!("budgets set --for department:sales --measure {measure} --limit 5");
        house.done(&line).await;
    }
    let several = house.run("budgets remove department:sales").await;
    assert!(several.err.contains("has several budgets: bud_"), "{}", several.err);
}
