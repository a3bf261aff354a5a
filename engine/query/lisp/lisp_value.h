// SPDX-License-Identifier: GPL-3.0-or-later
// The values to which forms of a Lisp text evaluate.
#pragma once

#include "engine/query/lisp/lisp_form.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

struct LispValue;

/// A query, with the place in the text of each of its nodes.
struct LispQuery {
  Node node;
  std::vector<SourceRange> ranges;  ///< in preorder
  std::size_t containers = 1;       ///< nesting of containers in its JSON form
  std::size_t nodes = 1;            ///< including the inputs of maps
  std::size_t bytes = 0;            ///< of all its texts
};

struct LispNumber {
  std::string text;  ///< as JSON writes it
};

/// A node that stands for the text of a file or the answer to a question. The file is read, or the question
/// is asked, only if the node is used as a text.
struct LispSugar {
  Node node;
};

struct LispBytes {
  std::vector<std::uint8_t> bytes;
};

/// A name with its value, and the surrounding names.
struct LispScope {
  std::string name;
  std::shared_ptr<const LispValue> value;
  std::shared_ptr<const LispScope> outer;
};

struct LispLambda {
  const LispForm* form = nullptr;  ///< (lambda (name…) body…)
  std::shared_ptr<const LispScope> scope;
};

struct LispList {
  std::vector<LispValue> elements;
};

struct LispNone {};

struct LispValue {
  std::variant<LispNone, LispQuery, std::string, LispNumber, LispSugar, LispBytes, SourceDocument, LispLambda,
               LispList>
      content;
  SourceRange range;  ///< of the form that the value comes from

  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&content);
  }
};

}  // namespace spanscope::query
