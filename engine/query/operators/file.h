// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operator `file`. Open this file to change its fields or how other code treats it.
#pragma once

#include "engine/query/operators/operator_info.h"

#include <string>

namespace spanscope::query {

/// `{"file": "path"}`: sugar in older documents, replaced by the text of a file. The path is relative to the
/// query's file.
struct File {
  std::string path;
  bool operator==(const File&) const = default;

  static constexpr const char* kKey = "file";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .resolvedBy = ResolvedBy::Files,
      .otherNames = {{{"fetch", "file"}}},
      .noun = "file",
      .unplannedAs = "the file ",
      .plannedAs = "its text: files are read before planning",
      .elsewhere = {"A file node: a server does not read your files. Replace the node by the text.",
                    "{n} file nodes: a server does not read your files. Replace the nodes by the texts."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.expected = "the path of a file"}, self.path);
  }
};

}  // namespace spanscope::query
