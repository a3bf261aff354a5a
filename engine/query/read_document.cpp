// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/read_document.h"

#include "engine/query/operators/vocabulary.h"
#include "engine/query/read_values.h"
#include "engine/query/shown_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::query {
namespace {

void readDocumentContent(QueryWalk& walk, SourceDocument& document) {
  constexpr const char* kForm = "{\"Text\": …} or {\"Binary\": […]}";
  if (walk.cursor().peek() != JsonKind::Object) {
    walk.refuseValue(kForm);
    return;
  }
  const std::size_t begin = walk.cursor().offset();
  walk.cursor().enterObject();
  std::size_t count = 0;
  std::string key;
  for (ValueCursor::Container object; walk.cursor().nextMember(object, key); ++count) {
    walk.within(key, [&] {
      if (count > 0 || (key != "Text" && key != "Binary")) {
        const auto meant = nearestName(key, {"Text", "Binary"});
        walk.error(object.keyOffset, (count == 0 ? "the key " : "a second key, ") + inQuotes(key), kForm,
                   count == 0 && meant ? "did you mean \"" + *meant + "\"?" : "");
        walk.cursor().skipValue();
      } else if (key == "Text") {
        readText(walk, document.content.emplace<std::string>(), "the text of the document");
      } else {
        readBytes(walk, document.content.emplace<std::vector<std::uint8_t>>());
      }
    });
  }
  if (!walk.cursor().stopped() && count == 0) walk.error(begin, "an empty object", kForm);
}

}  // namespace

void readDocument(QueryWalk& walk, SourceDocument& document) {
  constexpr const char* kForm = "a list of two: a name, and {\"Text\": …} or {\"Binary\": […]}";
  if (walk.cursor().peek() != JsonKind::Array) {
    walk.refuseValue(kForm);
    return;
  }
  const std::size_t begin = walk.cursor().offset();
  walk.cursor().enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; walk.cursor().nextElement(array); ++count) {
    walk.within(std::to_string(count), [&] {
      if (count == 0) {
        readText(walk, document.name, "the name of a document");
      } else if (count == 1) {
        readDocumentContent(walk, document);
      } else {
        if (count == 2) walk.refuseExtraElement(kForm);
        walk.cursor().skipValue();
      }
    });
  }
  if (!walk.cursor().stopped() && count < 2) {
    walk.error(begin, count == 0 ? "an empty list" : "a list of one element", kForm);
  }
}

}  // namespace spanscope::query
