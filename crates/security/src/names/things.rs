//! Nouns that end the names of products, meals and places in software, which are written like people's
//! names: `Copper Kettle`, `Ruby Grapefruit`, `Victoria Sponge`.

use std::sync::LazyLock;

use super::gazetteer::{Flags, Gazetteer};
use super::word;

const WORDS: [&str; 5] = [
    // What is sold.
    "basket box kettle mill jacket hose chair table desk lamp sofa shelf mug bottle cup plate bowl \
     spoon fork knife pan pot blanket pillow towel candle vase frame mirror carpet rug curtain shirt \
     hoodie sweater jeans trousers skirt dress coat boots shoes sneakers socks gloves scarf hat cap \
     helmet backpack bag wallet belt bracelet necklace ring earrings watch glasses sunglasses umbrella \
     tent bike bicycle scooter speaker headphones keyboard mouse monitor charger cable adapter battery \
     phone tablet laptop printer camera lens tripod drone console controller toy puzzle doll notebook \
     pen pencil paper ink brush paint hammer drill saw screwdriver wrench ladder bucket broom mop \
     detergent soap shampoo cream lotion perfume serum conditioner toothbrush bundle set kit pack \
     edition deluxe ürün masa sandalye lamba stuhl tisch lampe chaise mesa silla sedia tavolo tray",
    // What is eaten, and what grows.
    "salad sponge apple apples grapefruit orange oranges lemon lime banana berries strawberries \
     cherry cherries grape grapes pear plum peach mango melon tomato tomatoes potato potatoes onion \
     pepper peppers carrot beans rice pasta pizza burger sandwich wrap soup stew curry pie cake \
     cookie cookies muffin bread bagel croissant cheese cheddar butter yogurt milk coffee espresso \
     latte cappuccino tea juice cola beer wine ale lager gin cocktail smoothie chocolate caramel \
     vanilla noir blanc cinnamon honey jam syrup sauce dressing steak bacon ham sausage chicken salmon tuna \
     shrimp tofu noodles ramen sushi taco burrito quiche risotto lasagne lasagna tulip rose lily \
     orchid fern ivy oak maple birch pine cedar seed seeds bouquet grey margherita",
    // Colours and materials.
    "red green blue yellow purple pink brown black white silver gold golden copper bronze coral \
     teal navy beige ivory olive crimson scarlet turquoise indigo magenta cyan bleu blu blau azul mavi kurusu amber emerald ruby \
     sapphire leather cotton linen wool velvet bamboo ceramic porcelain steel brass",
    // Parts and roles of software.
    "menu dashboard widget button panel sidebar header footer banner modal dialog form field wizard \
     report reports user users admin visitor role persona mode theme service server client gateway \
     proxy broker worker queue cluster node pipeline agent module plugin extension library framework \
     sandbox staging backlog sprint epic release beta algorithm theorem lemma graph metrics analytics \
     gambit defence defense opening variation attack endgame",
    // Times, things of schools and offices, and what contracts speak of.
    "maths math physics chemistry biology history geography english games assembly lesson clause \
     losses notices fees charges damages premises services goods hizmetleri blatt kimlik",
];

static THINGS: LazyLock<Gazetteer> = LazyLock::new(|| {
    let words = WORDS.iter().flat_map(|words| words.split_ascii_whitespace());
    Gazetteer::build(words.map(|word| (word, Flags::COMMON)))
});

/// Whether `word` is a thing rather than somebody, at the end of a name.
pub(super) fn is_thing(word: &str) -> bool {
    is_thing_hash(word::hash(word)) && !super::told::flags_of(word).any(Flags::LAST)
}

/// The same of a word's hash.
pub(super) fn is_thing_hash(hash: u32) -> bool {
    THINGS.look_up(hash) != Flags::default()
}
