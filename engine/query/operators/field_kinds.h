// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of fields that operators have, by the types of their members. A visitor of fields has an overload
// for each kind it is about and one for LeafField, or a part of it, for the others: a member of a type that
// no kind knows then fits none of them, and does not compile.
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

/// A text: of a message, of a print, a path, a name.
template <class Member>
concept TextField = IsOneOf<Member, std::string>;

/// A number that may be left out, null or a parameter: max_tokens, temperature.
template <class Member>
concept SettingField = IsOneOf<Member, Setting<std::int32_t>, Setting<float>>;

template <class Member>
concept CountField = IsOneOf<Member, Times>;

/// Texts that a model answers one by one.
template <class Member>
concept TextsField = IsOneOf<Member, std::vector<std::string>>;

/// A name and a content.
template <class Member>
concept DocumentField = IsOneOf<Member, SourceDocument>;

/// Whatever holds no fields and no queries.
template <class Member>
concept LeafField = TextField<Member> || SettingField<Member> || CountField<Member> || TextsField<Member> ||
    DocumentField<Member>;

/// Has fields of its own: under its key if it has one, else beside those of what it stands in.
template <class Member>
concept GroupField = IsOneOf<Member, GenerateSettings, Generate>;

/// A query.
template <class Member>
concept ChildField = IsOneOf<Member, Box<Node>>;

/// Any number of queries.
template <class Member>
concept ChildrenField = IsOneOf<Member, std::vector<Node>>;

/// Visits the fields of a group with a visitor.
template <GroupField Group, class Visit>
void visitGroup(Group& group, Visit& visit) {
  std::remove_const_t<Group>::fields(group, visit);
}

}  // namespace spanscope::query
