// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_reader.h"

#include "engine/query/chat_reader.h"
#include "engine/query/operators/operator_fields.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/read_document.h"
#include "engine/query/read_values.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace spanscope::query {
namespace {

constexpr const char* kQueryForm = "a query: an object with one operator, such as {\"user\": \"text\"}";

/// Whether a prompt made of this subtree would hold no text at all.
bool hasNoPrompt(const Node& node) {
  if (const auto* message = node.as<Message>()) return message->text.empty();
  if (node.as<Print>() != nullptr || node.as<Monad>() != nullptr) return true;
  if (const auto* join = node.as<Join>()) {
    return std::all_of(join->children.begin(), join->children.end(), hasNoPrompt);
  }
  return false;
}

}  // namespace

QueryReader::QueryReader(std::string_view text, const ParseLimits& limits,
                         const QueryWalk::MakeCursor& makeCursor)
    : m_walk(text, limits, makeCursor), m_cursor(m_walk.cursor()) {}

ParseResult QueryReader::read() {
  ParseResult result;
  Node root;
  const ChatForm chat = chatFormOf(m_cursor);
  if (chat == ChatForm::None) {
    readNode(root, {});
  } else {
    m_cursor.peek();
    readChat(m_walk, chat, m_sources, root);
  }
  m_cursor.expectEnd();
  if (m_walk.errors() == 0) {
    result.query = std::move(root);
    result.sources = std::move(m_sources);
  }
  result.diagnostics = m_walk.takeDiagnostics();
  return result;
}

void QueryReader::readNode(Node& node, std::string step) {
  const JsonKind kind = m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  if (!m_walk.countNode(begin)) return;
  if (kind != JsonKind::Object) {
    std::string hint;
    if (kind == JsonKind::String) hint = "text stands under an operator: {\"user\": …}";
    if (kind == JsonKind::Array) hint = "a list of queries stands under an operator: {\"seq\": […]}";
    m_walk.refuseValue(kQueryForm, std::move(hint));
    return;
  }

  const std::size_t entry = m_sources.open(std::move(step), begin);
  m_cursor.enterObject();
  ValueCursor::Container object;
  std::string first;
  std::string key;
  bool isRefused = false;
  std::size_t count = 0;
  while (m_cursor.nextMember(object, key)) {
    ++count;
    if (count == 1) {
      first = key;
      isRefused = !findOperator(key).has_value();
      if (isRefused) {
        readUnknownOperator(key, object.keyOffset);
      } else {
        readOperator(key, node);
      }
      continue;
    }
    if (!isRefused) {
      isRefused = true;
      m_walk.error(object.keyOffset,
                   key == first ? "the operator " + quoted(key) + " twice" : "a second key, " + quoted(key),
                   "one operator in each object", "several queries stand in a list: {\"seq\": […]}");
    }
    // The query is refused already, but what else is wrong in it is wanted too.
    Node unused;
    if (findOperator(key)) {
      readOperator(key, unused);
    } else {
      m_walk.within(key, [this] { m_cursor.skipValue(); });
    }
  }
  if (!m_cursor.stopped() && count == 0) m_walk.error(begin, "an empty object", kQueryForm);
  m_sources.close(entry, m_cursor.offset());
}

void QueryReader::readUnknownOperator(const std::string& key, std::size_t offset) {
  m_walk.within(key, [&] {
    m_walk.error(offset, "the unknown operator " + quoted(key), "one of " + operatorKeys(),
                 hintForOperator(key));
    m_cursor.skipValue();
  });
}

void QueryReader::readOperator(std::string_view key, Node& node) {
  const auto readMessage = [&](Role role) {
    Message message{role, {}};
    readText(m_walk, message.text, "text");
    node.value = std::move(message);
  };
  m_walk.within(std::string(key), [&] {
    switch (findOperator(key).value_or(Operator::User)) {
      case Operator::User:
        return readMessage(Role::User);
      case Operator::System:
        return readMessage(Role::System);
      case Operator::Assistant:
        return readMessage(Role::Assistant);
      case Operator::Generate: {
        Generate generate;
        readGenerate(generate, "/g/input");
        node.value = std::move(generate);
        return;
      }
      case Operator::Seq:
        return readJoin(JoinKind::Seq, node);
      case Operator::Par:
        return readJoin(JoinKind::Par, node);
      case Operator::Cross:
        return readJoin(JoinKind::Cross, node);
      case Operator::Plus:
        return readJoin(JoinKind::Plus, node);
      case Operator::Monad: {
        Monad monad;
        readNode(*monad.body, "/monad");
        node.value = std::move(monad);
        return;
      }
      case Operator::Zip:
        return readZip(node);
      case Operator::Print: {
        Print print;
        readText(m_walk, print.text, "text");
        node.value = std::move(print);
        return;
      }
      case Operator::Repeat:
        return readRepeat(node);
      case Operator::Map:
        return readMap(node);
      case Operator::Augment:
        return readAugment(node);
      case Operator::Ask: {
        Ask ask;
        readText(m_walk, ask.prompt, "text");
        node.value = std::move(ask);
        return;
      }
      case Operator::File: {
        File file;
        readText(m_walk, file.path, "the path of a file");
        node.value = std::move(file);
        return;
      }
    }
  });
}

void QueryReader::readJoin(JoinKind kind, Node& node) {
  const JsonKind next = m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  if (next != JsonKind::Array) {
    m_walk.refuseValue("a list of queries", next == JsonKind::Object ? "put the query into a list: […]" : "");
    return;
  }
  Join join{kind, {}};
  const std::string step = std::string("/") + joinName(kind) + "/";
  m_cursor.enterArray();
  for (ValueCursor::Container array; m_cursor.nextElement(array);) {
    const std::string index = std::to_string(join.children.size());
    join.children.emplace_back();
    m_walk.within(index, [&] { readNode(join.children.back(), step + index); });
  }
  if (!m_cursor.stopped() && join.children.empty()) {
    m_walk.warning(begin, std::string("a ") + joinName(kind) + " without queries", "at least one",
                   "it adds nothing");
  }
  node.value = std::move(join);
}

void QueryReader::readGenerate(Generate& generate, std::string step) {
  const std::size_t errorsBefore = m_walk.errors();
  std::size_t inputOffset = 0;
  const std::array fields = {
      Field{"model", Need::Required, "the name of a model",
            [&] { readModel(m_walk, generate.settings.model, "the name of a model"); }},
      Field{"max_tokens", Need::Optional, nullptr,
            [&] { readMaxTokens(m_walk, generate.settings.maxTokens); }},
      Field{"temperature", Need::Optional, nullptr,
            [&] { readTemperature(m_walk, generate.settings.temperature); }},
      Field{"input", Need::Required, "the query to go on from",
            [&] {
              m_cursor.peek();
              inputOffset = m_cursor.offset();
              readNode(*generate.input, std::move(step));
            }},
  };
  readFields(m_walk, ListForm::Refused, fields);
  if (m_walk.errors() == errorsBefore && hasNoPrompt(*generate.input)) {
    m_walk.within("input", [&] {
      m_walk.warning(inputOffset, "an input without text", "a prompt",
                     "the model is asked to go on from nothing");
    });
  }
}

void QueryReader::readRepeat(Node& node) {
  Repeat repeat;
  std::optional<ValueCursor::Mark> legacy;
  std::size_t legacyKey = 0;
  std::optional<std::size_t> secondLegacyKey;
  const std::array fields = {
      Field{"n", Need::Required, "how often", [&] { readCount(m_walk, repeat.count); }},
      Field{"g", Need::RequiredInList, "what to generate",
            [&] { readGenerate(repeat.generate, "/repeat/g/input"); }},
  };
  // Older documents write the generate as a whole query. It is read when it is known that there is no "g",
  // because then, and only then, it counts.
  const OtherField readOther = [&](const std::string& key, std::size_t keyOffset) {
    if (key != "query") return false;
    m_cursor.peek();
    if (legacy) {
      secondLegacyKey = keyOffset;
    } else {
      legacyKey = keyOffset;
      legacy = m_cursor.mark();
    }
    m_walk.within(key, [this] { m_cursor.skipValue(); });
    return true;
  };
  m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  const FieldsRead read = readFields(m_walk, ListForm::Allowed, fields, readOther);
  if (read.isComplete && read.seen[1] && legacy) {
    m_walk.warning(legacyKey, "\"query\" beside \"g\"", "one of them", "\"query\" is ignored");
  } else if (read.isComplete && !read.seen[1] && legacy) {
    if (secondLegacyKey) m_walk.error(*secondLegacyKey, "the field \"query\" twice", "it once");
    const ValueCursor::Mark end = m_cursor.mark();
    m_cursor.goTo(*legacy);
    m_walk.within("query", [&] { readLegacyGenerate(repeat.generate); });
    if (!m_cursor.stopped()) m_cursor.goTo(end);
  } else if (read.isComplete && !read.seen[1]) {
    m_walk.error(begin, "no field \"g\"", "\"g\": what to generate");
  }
  node.value = std::move(repeat);
}

void QueryReader::readLegacyGenerate(Generate& generate) {
  constexpr const char* kForm = "a generate: {\"g\": {…}}";
  if (m_cursor.peek() != JsonKind::Object) {
    m_walk.refuseValue(kForm);
    return;
  }
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterObject();
  std::size_t count = 0;
  std::string key;
  for (ValueCursor::Container object; m_cursor.nextMember(object, key); ++count) {
    m_walk.within(key, [&] {
      if (key == "g" && count == 0) {
        readGenerate(generate, "/repeat/g/input");
        return;
      }
      m_walk.error(object.keyOffset, (count == 0 ? "the key " : "a second key, ") + quoted(key), kForm,
                   "only a generate can be repeated");
      m_cursor.skipValue();
    });
  }
  if (!m_cursor.stopped() && count == 0) m_walk.error(begin, "an empty object", kForm);
}

void QueryReader::readMap(Node& node) {
  Map map;
  const auto readMetadata = [&] {
    const std::array fields = {
        Field{"model", Need::Required, "the name of a model",
              [&] { readModel(m_walk, map.settings.model, "the name of a model"); }},
        Field{"max_tokens", Need::Optional, nullptr, [&] { readMaxTokens(m_walk, map.settings.maxTokens); }},
        Field{"temperature", Need::Optional, nullptr,
              [&] { readTemperature(m_walk, map.settings.temperature); }},
    };
    readFields(m_walk, ListForm::Allowed, fields);
  };
  const std::array fields = {
      Field{"metadata", Need::Required, "the model and its settings", readMetadata},
      Field{"inputs", Need::Required, "a list of texts", [&] { readInputs(map.inputs); }},
  };
  readFields(m_walk, ListForm::Allowed, fields);
  node.value = std::move(map);
}

void QueryReader::readInputs(std::vector<std::string>& inputs) {
  if (m_cursor.peek() != JsonKind::Array) {
    m_walk.refuseValue("a list of texts");
    return;
  }
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterArray();
  for (ValueCursor::Container array; m_cursor.nextElement(array);) {
    const JsonKind kind = m_cursor.peek();
    if (!m_walk.countNode(m_cursor.offset())) return;
    inputs.emplace_back();
    m_walk.within(std::to_string(inputs.size() - 1), [&] {
      if (kind == JsonKind::Object) {
        m_walk.refuseValue("text", "the inputs of a map are texts; each becomes a user message");
      } else {
        readText(m_walk, inputs.back(), "text");
      }
    });
  }
  if (!m_cursor.stopped() && inputs.empty()) {
    m_walk.warning(begin, "a map without inputs", "at least one", "it adds nothing");
  }
}

void QueryReader::readZip(Node& node) {
  Zip zip;
  const std::array fields = {
      Field{"first", Need::Required, "the query that is repeated",
            [&] { readNode(*zip.first, "/zip/first"); }},
      Field{"second", Need::Required, "the query it is put before each part of",
            [&] { readNode(*zip.second, "/zip/second"); }},
  };
  readFields(m_walk, ListForm::Allowed, fields);
  node.value = std::move(zip);
}

void QueryReader::readAugment(Node& node) {
  Augment augment;
  const std::array fields = {
      Field{"embedding_model", Need::Required, "the name of a model",
            [&] { readModel(m_walk, augment.embeddingModel, "the name of an embedding model"); }},
      Field{"body", Need::Required, "the query to find fragments for",
            [&] { readNode(*augment.body, "/augment/body"); }},
      Field{"doc", Need::Required, "a list of a name and a content",
            [&] { readDocument(m_walk, augment.document); }},
  };
  readFields(m_walk, ListForm::Allowed, fields);
  node.value = std::move(augment);
}

}  // namespace spanscope::query
