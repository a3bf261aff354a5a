// SPDX-License-Identifier: GPL-3.0-or-later
// The span query: a tree of messages and operators, as IBM/spnl 0.22 defines it. Plain values that copy,
// compare and cross threads. What was read is kept: the order of children, and absent against null against a
// value.
#pragma once

#include "engine/base/box.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::query {

struct Node;

/// A place for a value that is given when the query is run: written "{name}".
struct Parameter {
  std::string name;
  bool operator==(const Parameter&) const = default;
};

struct Absent {
  bool operator==(const Absent&) const = default;
};
struct Null {
  bool operator==(const Null&) const = default;
};

/// A field that may be left out (then its default holds), null (then there is no limit or value), a value or
/// a parameter.
template <class T>
using Setting = std::variant<Absent, Null, T, Parameter>;

enum class Role { System, User, Assistant };

/// A leaf: `{"user": "text"}`.
struct Message {
  Role role = Role::User;
  std::string text;
  bool operator==(const Message&) const = default;
};

/// Defaults of the language: a generate without max_tokens has 0 (the server's own limit), without
/// temperature 0.6.
inline constexpr std::int32_t kDefaultMaxTokens = 0;
inline constexpr float kDefaultTemperature = 0.6F;

/// What a generate says besides its input. `model` may hold a parameter as its text ("{model}").
struct GenerateSettings {
  std::string model;
  Setting<std::int32_t> maxTokens;
  Setting<float> temperature;
  bool operator==(const GenerateSettings&) const = default;
};

/// `{"g": {...}}`: generate new tokens after the input.
struct Generate {
  GenerateSettings settings;
  Box<Node> input;
  bool operator==(const Generate&) const = default;
};

/// Seq and Cross: order matters. Plus and Par: children may run in parallel; only Plus declares that its
/// children are independent of each other and that their order does not matter.
enum class JoinKind { Seq, Par, Cross, Plus };

struct Join {
  JoinKind kind = JoinKind::Seq;
  std::vector<Node> children;
  bool operator==(const Join&) const;
};

/// Run for its side effect; the output is dropped.
struct Monad {
  Box<Node> body;
  bool operator==(const Monad&) const = default;
};

/// `first` is repeated before every element of `second`.
struct Zip {
  Box<Node> first;
  Box<Node> second;
  bool operator==(const Zip&) const = default;
};

/// A message to the console; evaluates to an empty user message.
struct Print {
  std::string text;
  bool operator==(const Print&) const = default;
};

/// `count` generates of the same prompt. `count` is 0 … 255.
struct Repeat {
  std::variant<std::uint8_t, Parameter> count = std::uint8_t{1};
  Generate generate;
  bool operator==(const Repeat&) const = default;
};

/// One generate per input, each input a user message.
struct Map {
  GenerateSettings settings;
  std::vector<std::string> inputs;
  bool operator==(const Map&) const = default;
};

struct Document {
  std::string name;
  std::variant<std::string, std::vector<std::uint8_t>> content;  ///< text, or the bytes of a PDF
  bool operator==(const Document&) const = default;
};

/// Fragments of the document that fit `body`, found with an embedding model.
struct Augment {
  std::string embeddingModel;
  Box<Node> body;
  Document document;
  bool operator==(const Augment&) const = default;
};

/// Sugar of older documents: text to be asked of the person who runs the query.
struct Ask {
  std::string prompt;
  bool operator==(const Ask&) const = default;
};

/// Sugar of older documents: the text of a file, relative to the query's own file.
struct File {
  std::string path;
  bool operator==(const File&) const = default;
};

struct Node {
  std::variant<Message, Generate, Join, Monad, Zip, Print, Repeat, Map, Augment, Ask, File> value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&value);
  }
  bool operator==(const Node&) const = default;
};

inline bool Join::operator==(const Join& other) const {
  return kind == other.kind && children == other.children;
}

/// The key of the node's operator in JSON: "user", "g", "plus", "repeat", …
const char* operatorName(const Node& node);
const char* roleName(Role role);
const char* joinName(JoinKind kind);

/// One child of a node and the steps that lead to it in the JSON pointer, e.g. "/cross/1" or "/g/input".
struct ChildRef {
  const Node* node = nullptr;
  std::string step;
};
/// The children of a node in prompt order. The pointer of a repeat's inner generate is "/repeat/g" and it is
/// listed as the children of that generate, i.e. "/repeat/g/input".
std::vector<ChildRef> childrenOf(const Node& node);

/// The node that a NodePath names ("" is `root` itself), or nullptr if there is none. Only nodes of the tree
/// are found:
/// "/repeat/g" and "/g" are parts of a node, not nodes.
const Node* nodeAt(const Node& root, std::string_view pointer);
Node* nodeAt(Node& root, std::string_view pointer);

}  // namespace spanscope::query
