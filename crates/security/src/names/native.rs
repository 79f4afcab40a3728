//! Names in the scripts of China, Japan and Korea, which have no capitals: behind a label (`姓名：`) or
//! a phrase (`我叫`), where they begin with a family name. Names in those of Arabia and India stand in
//! [`words`](super::native_words), addresses in [`places`](super::native_places).

use super::blocks::BLOCK;
use super::{native_places, native_words};
use crate::detectors::personal::labelled;
use crate::finding::Finding;
use crate::kind::Kind;

/// What stands before a name.
const LABELS: [&str; 40] = [
    "姓名",
    "收件人",
    "收货人",
    "收貨人",
    "寄件人",
    "联系人",
    "聯絡人",
    "联络人",
    "我叫",
    "我的名字",
    "名叫",
    "患者",
    "客户",
    "客戶",
    "户名",
    "戶名",
    "持卡人",
    "申请人",
    "申請人",
    "负责人",
    "経営者",
    "氏名",
    "名前",
    "担当者",
    "患者名",
    "宛名",
    "이름",
    "성명",
    "성함",
    "고객명",
    "수령인",
    "수취인",
    "받는 사람",
    "받는분",
    "보내는 사람",
    "예금주",
    "환자명",
    "담당자",
    "안녕하세요",
    "저는",
];
/// What stands before a date of birth.
const BIRTHS: [&str; 6] = ["生年月日", "出生日期", "出生年月", "생년월일", "생일", "生日"];
/// What may stand between.
const BETWEEN: [&str; 16] =
    [" ", ":", "：", "=", "\"", "'", "是", "为", "為", "은", "는", ",", "、", "は", "，", ">"];
const STEPS: usize = 4;
/// What a look at a character costs, of which nearly all begin no label.
const COST: usize = 12;
/// So many bytes are read for a name: more than any has.
const LONGEST: usize = 64;

const CHINESE: &str = "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹\
袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江\
史顾顧侯邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴龚龔文庞樊兰殷施陶洪翟安颜顏倪严嚴牛温溫芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢\
路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟卜詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵解强柴华车冉房边";
const KOREAN: &str = "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁";
/// What a Korean name may end with that is none of it.
const ENDINGS: [&str; 8] = ["입니다", "이에요", "이예요", "예요", "이라고", "라고", "님", "씨"];

/// Pushes the names whose label begins in the block of bytes at `block`. Returns what the look cost, in
/// about nanoseconds.
pub(super) fn find(text: &str, block: usize, out: &mut Vec<Finding>) -> usize {
    let bytes = text.as_bytes();
    let mut looks = 0;
    for at in block..bytes.len().min(block + BLOCK) {
        match bytes[at] {
            0xE3..=0xED => {}
            0xD8..=0xDB | 0xE0 => {
                if native_words::begins(bytes, at) {
                    looks += 1;
                    native_words::find(text, at, out);
                }
                continue;
            }
            _ => continue,
        }
        let rest = &text[at..];
        looks += 1;
        native_places::find(text, at, out);
        if let Some(label) = BIRTHS.iter().find(|label| rest.starts_with(**label)) {
            let start = text.len() - without_marks(&rest[label.len()..]).len();
            let date = labelled::date_at(text, start);
            out.extend(date.map(|(start, end)| Finding {
                start,
                end,
                kind: Kind::BirthDate,
                rule: "birth_date",
            }));
            continue;
        }
        if let Some(length) = addressed(text, at) {
            let end = at + length;
            out.push(Finding { start: at, end, kind: Kind::Person, rule: "native_name" });
        }
        let Some(label) = LABELS.iter().find(|label| rest.starts_with(**label)) else { continue };
        let name = without_marks(&rest[label.len()..]);
        let start = text.len() - name.len();
        // A run goes on as long as it likes; no name does.
        let near = &name[..name.floor_char_boundary(LONGEST)];
        let is_whole = |length: &usize| *length < near.len() || near.len() == name.len();
        if let Some(length) = name_length(near, label).filter(is_whole) {
            let end = start + length;
            out.push(Finding { start, end, kind: Kind::Person, rule: "native_name" });
        }
    }
    COST * looks
}

/// What follows behind what may stand between a label and its value.
fn without_marks(mut rest: &str) -> &str {
    for _ in 0..STEPS {
        let between = BETWEEN.iter().find_map(|between| rest.strip_prefix(between));
        rest = between.unwrap_or(rest);
    }
    rest
}

/// How many bytes the Korean name has that begins at `at` with its title behind it: `김민수 귀하`.
fn addressed(text: &str, at: usize) -> Option<usize> {
    const SYLLABLE: usize = 3;
    const NAME: usize = 3 * SYLLABLE;
    let name = text.get(at..at + NAME)?;
    let behind = &text[at + NAME..];
    let is_addressed =
        [" 귀하", " 씨", " 님", "님,", "님 "].iter().any(|title| behind.starts_with(title));
    let first = name.chars().next()?;
    let is_korean = |c: char| matches!(c, '가'..='힣');
    let starts = !text[..at].chars().next_back().is_some_and(is_korean);
    // `구매자님` is any buyer.
    let is_role = name.ends_with(['자', '원', '객', '사', '장', '생']);
    let fits = is_addressed && starts && !is_role && KOREAN.contains(first);
    (fits && name.chars().all(is_korean)).then_some(NAME)
}

/// How many bytes the name has that `rest` begins with.
fn name_length(rest: &str, label: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    let is_korean = |c: char| matches!(c, '가'..='힣');
    let is_han = |c: char| matches!(c, '一'..='鿿');
    let is_kana = |c: char| matches!(c, 'ぁ'..='ヿ');
    if is_korean(first) {
        let word = &rest[..rest.find(|c| !is_korean(c)).unwrap_or(rest.len())];
        let name = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
        // A greeting goes on otherwise, too.
        let phrase = matches!(label, "안녕하세요" | "저는");
        let length = name.unwrap_or(word).chars().count();
        let fits = (2..=4).contains(&length) && KOREAN.contains(first);
        return (fits && (!phrase || name.is_some())).then(|| name.unwrap_or(word).len());
    }
    if !is_han(first) {
        return None;
    }
    let japanese = matches!(label, "氏名" | "名前" | "担当者" | "患者名" | "宛名");
    if japanese {
        let end = rest.find(|c| !is_han(c) && !is_kana(c) && !matches!(c, ' ' | '\u{3000}'));
        let name = rest[..end.unwrap_or(rest.len())].trim_end();
        let letters = name.chars().filter(|c| !c.is_whitespace()).count();
        return (2..=7).contains(&letters).then_some(name.len());
    }
    let name = &rest[..rest.find(|c| !is_han(c)).unwrap_or(rest.len())];
    let name = name.strip_suffix("先生").or_else(|| name.strip_suffix("女士")).unwrap_or(name);
    let fits = (2..=4).contains(&name.chars().count());
    let family = CHINESE.contains(first) || name.starts_with("欧阳") || name.starts_with("诸葛");
    (fits && family).then_some(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut findings = Vec::new();
        for block in (0..text.len()).step_by(BLOCK) {
            find(text, block, &mut findings);
        }
        findings.iter().map(|finding| &text[finding.range()]).collect()
    }

    #[test]
    fn names_behind_their_labels() {
        for (text, name) in [
            ("姓名：王小明，电话：", "王小明"),
            ("您好，我叫欧阳娜娜。", "欧阳娜娜"),
            ("氏名: 山田 花子\n住所", "山田 花子"),
            ("이름: 박서준 / 나이", "박서준"),
            ("최민수 귀하, 입사를 축하드립니다", "최민수"),
            ("생년월일 1955년 1월 6일 및", "1955년 1월 6일"),
            ("收货地址“杭州市人民路30号”超出配送范围", "杭州市人民路30号"),
            ("我家住成都市中山北路13号,孩子", "成都市中山北路13号"),
            ("810-0011,中央区大通西5丁目131番地\n", "中央区大通西5丁目131番地"),
            ("주소(부산광역시 테헤란로 19)를", "부산광역시 테헤란로 19"),
            ("मेरा नाम अर्जुन शर्मा है, पता", "अर्जुन शर्मा"),
            ("कि मैं सुरेश यादव, निवासी", "सुरेश यादव"),
            ("김민수 씨 안녕하세요", "김민수"),
            ("التقى المهندس محمود منصور في الإسكندرية", "محمود منصور"),
            ("{\"الاسم\": \"خالد الحربي\"}", "خالد الحربي"),
            ("안녕하세요 이영희입니다.", "이영희"),
            ("{\"姓名\":\"李伟\"}", "李伟"),
        ] {
            assert_eq!(found(text), [name], "{text}");
        }
        for text in [
            "안녕하세요 문의드립니다",
            "我叫你不要去那里玩",
            "이름: 필수",
            "患者需要住院",
            "姓名: required",
            "이용자님, 안녕하세요",
            "订单30号",
            "मेरा नाम क्या है",
            "오늘날씨 좋네요",
            "मैं घर जा रहा हूँ।",
            "और मैं बहुत खुश",
            "السيد الذي حضر أمس",
            "الاسم: مطلوب",
            "नाम: आवश्यक",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
