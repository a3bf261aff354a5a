// SPDX-License-Identifier: GPL-3.0-or-later
// What a query needs from outside: the text of files and the answers of the person who runs it.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

/// Why something was not given, as the parts of a Diagnostic.
struct NotGiven {
  std::string found;     ///< e.g. "a file of 20000000 bytes"
  std::string expected;  ///< e.g. "at most 16777216"
  std::string hint;      ///< may be empty
};

/// Files by paths that readFile() takes, in the order of their bytes; and what is said of those that were
/// left out.
struct FileList {
  std::vector<std::string> paths;
  std::vector<NotGiven> leftOut;
};

class Surroundings {
 public:
  virtual ~Surroundings() = default;

  /// The bytes of a file; what a relative path is relative to is known here.
  virtual std::variant<std::string, NotGiven> readFile(const std::string& path) = 0;
  /// The files that a path means: itself, all files of a folder and the folders below it, or those that fit a
  /// pattern (path_pattern.h). At least one.
  virtual std::variant<FileList, NotGiven> listFiles(const std::string& path);
  /// The answer to a question. The same words get the same answer.
  virtual std::variant<std::string, NotGiven> ask(const std::string& prompt) = 0;
};

/// The bytes of a file as text: UTF-8, or it is refused. A byte order mark is no part of it.
std::variant<std::string, NotGiven> readTextFile(Surroundings& surroundings, const std::string& path);

/// What stands for sugar (isSugar() in node_parts.h): the answer to a question, the text of a file.
std::variant<std::string, NotGiven> textOfSugar(const Node& sugar, Surroundings& surroundings);

/// The query with every `ask` and `file` replaced by a user message of the answer or the text, or everything
/// that was not given. The diagnostics have the path of the node and no position. Neither
/// answers nor files are searched for parameters.
std::variant<Node, std::vector<Diagnostic>> resolveSugar(const Node& node, Surroundings& surroundings);

}  // namespace spanscope::query
