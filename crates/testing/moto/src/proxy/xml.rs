//! As much of XML as AWS' answers need.

/// An element: its text, or what is in it. Attributes are of no interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    /// The root of a document; `None` where it is no XML.
    pub(crate) fn parse(document: &str) -> Option<Self> {
        let mut open = vec![Self::default()];
        let mut rest = document;
        while let Some((text, markup)) = rest.split_once('<') {
            let (tag, after) = markup.split_once('>')?;
            rest = after;
            open.last_mut()?.text.push_str(&unescaped(text));
            if tag.starts_with(['?', '!']) {
                continue;
            }
            if let Some(name) = tag.strip_prefix('/') {
                let done = open.pop().filter(|done| done.name == name)?;
                open.last_mut()?.children.push(done);
                continue;
            }
            let (tag, empty) = match tag.strip_suffix('/') {
                Some(tag) => (tag, true),
                None => (tag, false),
            };
            let element = Self {
                name: tag.split_whitespace().next()?.to_owned(),
                ..Self::default()
            };
            if empty {
                open.last_mut()?.children.push(element);
            } else {
                open.push(element);
            }
        }
        let document = open.pop().filter(|_| open.is_empty())?;
        document.children.into_iter().next()
    }

    /// The first element of this name, however far down.
    pub(crate) fn find(&self, name: &str) -> Option<&Self> {
        self.children.iter().find_map(|child| {
            if child.name == name {
                Some(child)
            } else {
                child.find(name)
            }
        })
    }

    /// All elements of this name, however far down, in their order.
    pub(crate) fn all(&self, name: &str) -> Vec<&Self> {
        let mut found = Vec::new();
        for child in &self.children {
            if child.name == name {
                found.push(child);
            }
            found.extend(child.all(name));
        }
        found
    }

    /// The entries of the first list of this name, however far down.
    pub(crate) fn items(&self, list: &str) -> &[Self] {
        self.find(list).map_or(&[], |list| &list.children)
    }

    /// The text of a child; empty, where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        let child = self.children.iter().find(|child| child.name == name);
        child.map_or("", |child| child.text())
    }

    pub(crate) fn text(&self) -> &str {
        self.text.trim()
    }
}

const ENTITIES: [(&str, &str); 5] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&apos;", "'"),
    // The last one, so that nothing is decoded twice.
    ("&amp;", "&"),
];

fn unescaped(text: &str) -> String {
    let decode = |text: String, (entity, is): &(&str, &str)| text.replace(entity, is);
    ENTITIES.iter().fold(text.to_owned(), decode)
}

/// A text as it stands in XML.
pub(crate) fn escaped(text: &str) -> String {
    let encode = |text: String, (entity, is): &(&str, &str)| text.replace(is, entity);
    ENTITIES.iter().rev().fold(text.to_owned(), encode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read() {
        let document = "<?xml version=\"1.0\"?>\n<R xmlns=\"u\"><set><item><id>a</id><empty/></item>\
                        <item><id> b &amp;lt; </id></item></set><more><id>c</id></more></R>\n";
        let root = Element::parse(document).unwrap();
        let ids: Vec<_> = root
            .items("set")
            .iter()
            .map(|item| item.get("id"))
            .collect();
        assert_eq!(ids, ["a", "b &lt;"]);
        assert_eq!(root.items("set")[0].get("empty"), "");
        assert_eq!(root.find("more").unwrap().get("id"), "c");
        assert!(root.items("nothing").is_empty());
        let all: Vec<_> = root.all("id").into_iter().map(Element::text).collect();
        assert_eq!(all, ["a", "b &lt;", "c"]);
    }

    #[test]
    fn what_is_no_xml_is_none() {
        for document in ["", "words", "<a><b></a></b>", "<a>", "<a", "</a>"] {
            assert_eq!(Element::parse(document), None, "{document}");
        }
    }

    #[test]
    fn a_text_comes_back_from_xml() {
        let text = "<a href=\"x\">'&lt;'</a>";
        assert_eq!(unescaped(&escaped(text)), text);
        assert!(!escaped(text).contains('<'));
    }
}
