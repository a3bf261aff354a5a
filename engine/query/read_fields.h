// SPDX-License-Identifier: GPL-3.0-or-later
// Reads operators that are written as an object, or as a list of their fields in order.
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
  RequiredInList,  ///< in an object there is another way to write it; the caller checks this
  Optional,
};

struct FieldReader {
  const char* name;
  Need need;
  const char* meaning;  ///< names what the value is, for the error if it is missing; nullptr: the field is
                        ///< optional
  std::function<void()> read;
};

struct FieldsRead {
  std::vector<bool> seen;   ///< by field: whether it was read
  bool isComplete = false;  ///< the whole object or list was read
};

enum class ListForm { Allowed, Refused };

/// Gets the key of a member that is no field, and the offset of the key. Returns true if it has read the
/// value.
using OtherField = std::function<bool(const std::string&, std::size_t)>;

/// Reads the fields of an operator. Reports fields that are missing, given twice or unknown.
FieldsRead readFields(QueryWalk& walk, ListForm listForm, std::span<const FieldReader> fields,
                      const OtherField& readOther = {});

}  // namespace spanscope::query
