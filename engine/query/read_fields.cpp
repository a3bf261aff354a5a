// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/read_fields.h"

#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::query {
namespace {

std::string namesOf(std::span<const FieldReader> fields) {
  std::string names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) names += i + 1 == fields.size() ? " and " : ", ";
    names += fields[i].name;
  }
  return names;
}

void warnOfUnknownField(QueryWalk& walk, const std::string& key, std::size_t offset,
                        std::span<const FieldReader> fields) {
  std::vector<std::string> names;
  for (const FieldReader& field : fields) names.emplace_back(field.name);
  const auto meant = nearestName(key, names);
  std::string hint = "it is ignored";
  if (meant) hint += "; did you mean \"" + *meant + "\"?";
  // Within a repeat, "g" names the generate itself. Elsewhere it names the operator. So people easily write
  // it twice.
  if (key == "g") hint += "; the fields of a generate stand here directly";
  walk.warning(offset, "the unknown field " + inQuotes(key), "one of " + namesOf(fields), std::move(hint));
}

void readMembers(QueryWalk& walk, std::span<const FieldReader> fields, const OtherField& readOther,
                 FieldsRead& read) {
  const std::size_t begin = walk.cursor().offset();
  walk.cursor().enterObject();
  std::string key;
  for (ValueCursor::Container object; walk.cursor().nextMember(object, key);) {
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const FieldReader& f) { return key == f.name; });
    if (field == fields.end()) {
      if (readOther && readOther(key, object.keyOffset)) continue;
      walk.within(key, [&] {
        warnOfUnknownField(walk, key, object.keyOffset, fields);
        walk.cursor().skipValue();
      });
      continue;
    }
    const auto index = static_cast<std::size_t>(field - fields.begin());
    walk.within(key, [&] {
      if (!read.seen[index]) {
        read.seen[index] = true;
        field->read();
      } else {
        walk.error(object.keyOffset, "the field " + inQuotes(key) + " twice", "it once");
        walk.cursor().skipValue();
      }
    });
  }
  if (walk.cursor().stopped()) return;
  read.isComplete = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (read.seen[i] || fields[i].need != Need::Required) continue;
    const std::string name = inQuotes(fields[i].name);
    walk.error(begin, "no field " + name, name + ": " + fields[i].meaning);
  }
}

void readElements(QueryWalk& walk, std::span<const FieldReader> fields, FieldsRead& read) {
  const std::size_t begin = walk.cursor().offset();
  const std::string form = "a list of " + namesOf(fields);
  walk.cursor().enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; walk.cursor().nextElement(array); ++count) {
    walk.within(std::to_string(count), [&] {
      if (count < fields.size()) {
        read.seen[count] = true;
        fields[count].read();
      } else {
        if (count == fields.size()) walk.refuseExtraElement(form);
        walk.cursor().skipValue();
      }
    });
  }
  if (walk.cursor().stopped()) return;
  const bool isShort = count < fields.size() && fields[count].need != Need::Optional;
  if (isShort) walk.error(begin, std::string("a list without its ") + fields[count].name, form);
  read.isComplete = !isShort;
}

}  // namespace

FieldsRead readFields(QueryWalk& walk, ListForm listForm, std::span<const FieldReader> fields,
                      const OtherField& readOther) {
  FieldsRead read{std::vector<bool>(fields.size(), false), false};
  const JsonKind kind = walk.cursor().peek();
  if (kind == JsonKind::Object) {
    readMembers(walk, fields, readOther, read);
  } else if (kind == JsonKind::Array && listForm == ListForm::Allowed) {
    readElements(walk, fields, read);
  } else {
    walk.refuseValue("an object with the fields " + namesOf(fields));
  }
  return read;
}

}  // namespace spanscope::query
