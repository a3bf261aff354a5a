// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of fields that operators have, by the types of their members. A visitor of fields has an overload
// for each kind that it handles, and one for all others, LeafField or a part of it. A member of an unknown
// type fits no overload, so the code does not compile.
#pragma once

#include "engine/query/operators/augment.h"
#include "engine/query/operators/generate.h"
#include "engine/query/operators/settings.h"

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

namespace spanscope::query {

/// `Member` is `T` or `const T`.
template <class Member, class... T>
concept IsOneOf = (std::same_as<std::remove_const_t<Member>, T> || ...);

/// A text: that of a message or a print, a path, a name.
template <class Member>
concept TextField = IsOneOf<Member, std::string>;

/// A number that may be absent, null or a parameter: max_tokens, temperature.
template <class Member>
concept SettingField = IsOneOf<Member, Setting<std::int32_t>, Setting<float>>;

template <class Member>
concept CountField = IsOneOf<Member, Times>;

/// Texts that a model answers, each on its own.
template <class Member>
concept TextsField = IsOneOf<Member, std::vector<std::string>>;

/// A document: a name and a content.
template <class Member>
concept DocumentField = IsOneOf<Member, SourceDocument>;

/// A field without fields or queries in it.
template <class Member>
concept LeafField = TextField<Member> || SettingField<Member> || CountField<Member> || TextsField<Member> ||
    DocumentField<Member>;

/// A field with fields of its own. They stand under its key if it has one, else beside the surrounding
/// operator's fields.
template <class Member>
concept GroupField = IsOneOf<Member, GenerateSettings, Generate>;

/// A query.
template <class Member>
concept ChildField = IsOneOf<Member, Box<Node>>;

/// Any number of queries.
template <class Member>
concept ChildrenField = IsOneOf<Member, std::vector<Node>>;

/// Visits the fields of a group.
template <GroupField Group, class Visit>
void visitGroup(Group& group, Visit& visit) {
  std::remove_const_t<Group>::fields(group, visit);
}

}  // namespace spanscope::query
