// SPDX-License-Identifier: GPL-3.0-or-later
// Operators that are written as an object, or as a list in the order of its fields.
#pragma once

#include "engine/query/query_walk.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::query {

enum class Need {
  Required,
  RequiredInList,  ///< as an object there is another way to say it, which the caller looks after
  Optional,
};

struct FieldReader {
  const char* name;
  Need need;
  const char* meaning;  ///< what is missing without it; nullptr if it may be left out
  std::function<void()> read;
};

struct FieldsRead {
  std::vector<bool> seen;   ///< by field
  bool isComplete = false;  ///< the whole object or list was read
};

enum class ListForm { Allowed, Refused };

/// Offered the key of a member that is no field, and where the key stands. True if it has read the value.
using OtherField = std::function<bool(const std::string&, std::size_t)>;

/// Reads the fields of an operator and reports those that are missing, given twice or unknown.
FieldsRead readFields(QueryWalk& walk, ListForm listForm, std::span<const FieldReader> fields,
                      const OtherField& readOther = {});

}  // namespace spanscope::query
