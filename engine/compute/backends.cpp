// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/backends.h"

#include "engine/base/error.h"

#include <algorithm>
#include <utility>

namespace spanscope::compute {

Backends::Backends(std::vector<BackendKind> kinds) : m_kinds(std::move(kinds)) {}

const BackendKind& Backends::named(std::string_view name) const {
  const auto kind = std::find_if(m_kinds.begin(), m_kinds.end(), [name](const BackendKind& candidate) {
    return name.empty() || candidate.name == name;
  });
  if (kind != m_kinds.end()) return *kind;
  std::string names;
  for (const BackendKind& known : m_kinds) names += (names.empty() ? "" : ", ") + known.name;
  throw Failure(
      {.file = {},
       .place = {},
       .found = name.empty() ? "a program without a backend" : "the backend \"" + std::string(name) + "\"",
       .expected = names.empty() ? "one that can compute" : "one of " + names});
}

}  // namespace spanscope::compute
