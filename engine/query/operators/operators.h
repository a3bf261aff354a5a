// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the operators: their fields, and how other code treats them. The file begins with the types of
// settings, whose values may be parameters, and with the settings of a generate node. Open this file to add
// an operator or a setting of a generate node.
#pragma once

#include "engine/base/shared.h"
#include "engine/query/operators/operator_info.h"

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

struct Node;

/// A placeholder, written "{name}". The placeholder gets its value when the query runs.
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

/// A field that may be absent, null, a value or a parameter. Absent means the default. Null means no limit or
/// no value.
template <class T>
using Setting = std::variant<Absent, Null, T, Parameter>;

/// A number of repetitions: 0 … 255.
using Times = std::variant<std::uint8_t, Parameter>;

/// Defaults of the language. A max_tokens of 0 means the server's own limit.
inline constexpr std::int32_t kDefaultMaxTokens = 0;
inline constexpr float kDefaultTemperature = 0.6F;

/// The value of an absent setting.
template <class T>
inline constexpr T kDefaultOf = T{};
template <>
inline constexpr std::int32_t kDefaultOf<std::int32_t> = kDefaultMaxTokens;
template <>
inline constexpr float kDefaultOf<float> = kDefaultTemperature;

/// The settings of a generate node: all fields except the input. The text of `model` may contain a parameter
/// ("{model}").
struct GenerateSettings {
  std::string model;
  Setting<std::int32_t> maxTokens;
  Setting<float> temperature;
  bool operator==(const GenerateSettings&) const = default;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    constexpr const char* kModel = "the name of a model";
    visit(FieldInfo{.key = "model", .missing = kModel, .expected = kModel, .isName = true}, self.model);
    visit(FieldInfo{.key = "max_tokens"}, self.maxTokens);
    visit(FieldInfo{.key = "temperature"}, self.temperature);
  }
};

enum class Role { System, User, Assistant };

constexpr const char* roleName(Role role) {
  switch (role) {
    case Role::System:
      return "system";
    case Role::User:
      return "user";
    case Role::Assistant:
      return "assistant";
  }
  return "";
}

/// A leaf: `{"user": "text"}`.
struct Message {
  Role role = Role::User;
  std::string text;
  bool operator==(const Message&) const = default;

  /// The key of the operator shows the role.
  static constexpr std::array kKinds = {Role::User, Role::System, Role::Assistant};
  static constexpr const char* keyOf(Role role) { return roleName(role); }
  static Message ofKind(Role role) { return {role, {}}; }
  const char* key() const { return keyOf(role); }

  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Text,
      .otherNames = {{{"text", "user"}, {"human", "user"}, {"prompt", "user"}, {"ai", "assistant"}}},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.text);
  }
};

/// `{"g": {...}}`: generates new tokens after the input.
struct Generate {
  GenerateSettings settings;
  Box<Node> input;
  bool operator==(const Generate&) const = default;

  static constexpr const char* kKey = "g";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::NamedFields,
      .gives = Gives::Answer,
      .otherNames = {{{"generate", "g"}, {"gen", "g"}, {"model", "g"}}},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.settings);
    visit(FieldInfo{.key = "input", .missing = "the query that the generate node answers"}, self.input);
  }
};

/// Seq and Cross: the order of the children matters. Plus and Par: the children may run in parallel. Only
/// Plus declares that its children are independent of each other and that their order does not matter.
enum class JoinKind { Seq, Par, Cross, Plus };

constexpr const char* joinName(JoinKind kind) {
  switch (kind) {
    case JoinKind::Seq:
      return "seq";
    case JoinKind::Par:
      return "par";
    case JoinKind::Cross:
      return "cross";
    case JoinKind::Plus:
      return "plus";
  }
  return "";
}

/// `{"plus": […]}`
struct Join {
  JoinKind kind = JoinKind::Seq;
  std::vector<Node> children;
  bool operator==(const Join&) const;

  /// The key of the operator shows the kind.
  static constexpr std::array kKinds = {JoinKind::Seq, JoinKind::Par, JoinKind::Cross, JoinKind::Plus};
  static constexpr const char* keyOf(JoinKind kind) { return joinName(kind); }
  static Join ofKind(JoinKind kind);
  const char* key() const { return keyOf(kind); }

  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Children,
      .otherNames = {{{"sequence", "seq"}, {"parallel", "par"}, {"commutative", "plus"}}},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.children);
  }
};

/// `{"monad": {…}}`: runs for its side effect. The output is dropped.
struct Monad {
  Box<Node> body;
  bool operator==(const Monad&) const = default;

  static constexpr const char* kKey = "monad";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Nothing,
      .isInMacro = false,
      .onServer = {"A monad: SPNL runs this node separately. The server gets only messages and joins.",
                   "{n} monads: SPNL runs these nodes separately. The server gets only messages and joins."},
      .elsewhere = {"A monad is left out of the prompt, because a monad only warms a cache.",
                    "{n} monads are left out of the prompt, because monads only warm a cache."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.body);
  }
};

/// `{"zip": {"first": …, "second": …}}`: repeats `first` before every element of `second`.
struct Zip {
  Box<Node> first;
  Box<Node> second;
  bool operator==(const Zip&) const = default;

  static constexpr const char* kKey = "zip";
  static constexpr OperatorInfo kInfo = {
      .resolvedBy = ResolvedBy::Rule,
      .isInMacro = false,
      .onServer = {"A zip: SPNL expands this node first. The server gets only messages and joins.",
                   "{n} zips: SPNL expands these nodes first. The server gets only messages and joins."},
      .elsewhere = {"A zip is expanded.", "{n} zips are expanded."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "first", .missing = "the query to repeat"}, self.first);
    visit(FieldInfo{.key = "second", .missing = "the query whose elements it precedes"}, self.second);
  }
};

/// `{"print": "text"}`: prints a message on the console. The value of a print is an empty user message.
struct Print {
  std::string text;
  bool operator==(const Print&) const = default;

  static constexpr const char* kKey = "print";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .gives = Gives::Nothing,
      .onServer = {"A print: SPNL prints this text. The server gets only messages and joins.",
                   "{n} prints: SPNL prints these texts. The server gets only messages and joins."},
      .elsewhere = {"A print is left out: other servers do not print.",
                    "{n} prints are left out: other servers do not print."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.text);
  }
};

/// `{"repeat": {"n": 4, "g": {…}}}`: generates `count` answers to the same prompt.
struct Repeat {
  Times count = std::uint8_t{1};
  Generate generate;
  bool operator==(const Repeat&) const = default;

  static constexpr const char* kKey = "repeat";
  static constexpr OperatorInfo kInfo = {
      .gives = Gives::Answer,
      .resolvedBy = ResolvedBy::Rule,
      .otherNames = {{{"loop", "repeat"}}},
      .elsewhere = {"A repeat becomes one request per copy.", "{n} repeats become one request per copy."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "n", .missing = "the number of answers"}, self.count);
    visit(
        FieldInfo{
            .key = "g", .missing = /*id:repeat-generate*/ "the generate node to repeat", .olderKey = "query"},
        self.generate);
  }
};

/// `{"map": {"metadata": {…}, "inputs": […]}}`: one generate node per input. Each input is a user message.
struct Map {
  GenerateSettings settings;
  std::vector<std::string> inputs;
  bool operator==(const Map&) const = default;

  static constexpr const char* kKey = "map";
  static constexpr OperatorInfo kInfo = {
      .gives = Gives::Answer,
      .resolvedBy = ResolvedBy::Rule,
      .isInMacro = false,
      .otherNames = {{{"foreach", "map"}}},
      .elsewhere = {"A map becomes one request per input.", "{n} maps become one request per input."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "metadata", .missing = "the model and its settings"}, self.settings);
    visit(FieldInfo{.key = "inputs", .missing = "a list of texts"}, self.inputs);
  }
};

struct SourceDocument {
  std::string name;
  std::variant<std::string, std::vector<std::uint8_t>> content;  ///< text, or the bytes of a PDF
  bool operator==(const SourceDocument&) const = default;
};

/// `{"augment": {…, "doc": […]}}`: passages of the document that match `body`. An embedding model retrieves
/// them.
struct Augment {
  std::string embeddingModel;
  Box<Node> body;
  SourceDocument document;
  bool operator==(const Augment&) const = default;

  static constexpr const char* kKey = "augment";
  static constexpr OperatorInfo kInfo = {
      .resolvedBy = ResolvedBy::Retrieval,
      .isInMacro = false,
      .otherNames = {{{"with", "augment"}}},
      .unplannedAs = "an augment over ",
      .plannedAs = "its passages: retrieval runs before planning",
      .onServer =
          {"An augment: SPNL retrieves the passages first. The server gets only messages and joins.",
           "{n} augments: SPNL retrieves the passages first. The server gets only messages and joins."},
      .elsewhere = {"An augment: chat completions do not retrieve. Retrieve the passages first.",
                    "{n} augments: chat completions do not retrieve. Retrieve the passages first."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{.key = "embedding_model",
                    .missing = "the name of a model",
                    .expected = "the name of an embedding model",
                    .isName = true},
          self.embeddingModel);
    visit(FieldInfo{.key = "body", .missing = "the query to find passages for"}, self.body);
    visit(FieldInfo{.key = "doc", .missing = "a list of a name and a content"}, self.document);
  }
};

/// `{"ask": "text"}`: sugar in older documents. The text is a question to the user who runs the query.
struct Ask {
  std::string prompt;
  bool operator==(const Ask&) const = default;

  static constexpr const char* kKey = "ask";
  static constexpr OperatorInfo kInfo = {
      .form = BodyForm::Value,
      .resolvedBy = ResolvedBy::User,
      .isInMacro = false,
      .noun = "question",
      .unplannedAs = "the question ",
      .plannedAs = "its answer: questions are answered before planning",
      .elsewhere = {"An ask node: a server cannot ask the user. Replace the node by the answer.",
                    "{n} ask nodes: a server cannot ask the user. Replace the nodes by the answers."},
  };

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(FieldInfo{}, self.prompt);
  }
};

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
