// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_reader.h"

#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "engine/query/utf8.h"
#include "engine/query/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spanscope::query {
namespace {

constexpr std::size_t kShownCharacters = 40;
constexpr const char* kQueryForm = "a query: an object with one operator, such as {\"user\": \"text\"}";

/// A key as a reference token of a JSON pointer. No key of the language is long, so a very long one is cut:
/// each diagnostic has its own copy.
std::string pointerStep(std::string_view key) {
  constexpr std::size_t kLongestKey = 200;
  std::string cut;
  if (key.size() > kLongestKey) {
    cut = cutText(key.substr(0, 4 * kLongestKey), kLongestKey);
    key = cut;
  }
  std::string step = "/";
  for (const char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

/// A byte that cannot stand where it does, e.g. "the byte 0xff, which is not UTF-8".
std::string describeByte(char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return std::string("the byte 0x") + kDigits[value >> 4U] + kDigits[value & 15U] +
         ", which is not UTF-8 here";
}

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

QueryReader::QueryReader(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor)
    : m_text(text), m_limits(limits), m_ownCursor(makeCursor(*this)), m_cursor(*m_ownCursor) {}

ParseResult QueryReader::read() {
  ParseResult result;
  Node root;
  readNode(root, {});
  m_cursor.expectEnd();
  if (m_errors == 0) {
    result.query = std::move(root);
    result.sources = std::move(m_sources);
  }
  finishDiagnostics(result);
  return result;
}

void QueryReader::readNode(Node& node, std::string step) {
  const JsonKind kind = m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  if (!countNode(begin)) return;
  if (kind != JsonKind::Object) {
    std::string hint;
    if (kind == JsonKind::String) hint = "text stands under an operator: {\"user\": …}";
    if (kind == JsonKind::Array) hint = "a list of queries stands under an operator: {\"seq\": […]}";
    refuseValue(kQueryForm, std::move(hint));
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
      error(object.keyOffset,
            key == first ? "the operator " + quoted(key) + " twice" : "a second key, " + quoted(key),
            "one operator in each object", "several queries stand in a list: {\"seq\": […]}");
    }
    // The query is refused already, but what else is wrong in it is wanted too.
    Node unused;
    if (findOperator(key)) {
      readOperator(key, unused);
    } else {
      within(key, [this] { m_cursor.skipValue(); });
    }
  }
  if (!m_cursor.stopped() && count == 0) error(begin, "an empty object", kQueryForm);
  m_sources.close(entry, m_cursor.offset());
}

void QueryReader::readUnknownOperator(const std::string& key, std::size_t offset) {
  within(key, [&] {
    error(offset, "the unknown operator " + quoted(key), "one of " + operatorKeys(), hintForOperator(key));
    m_cursor.skipValue();
  });
}

void QueryReader::readOperator(std::string_view key, Node& node) {
  const auto readMessage = [&](Role role) {
    Message message{role, {}};
    readText(message.text, "text");
    node.value = std::move(message);
  };
  within(std::string(key), [&] {
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
        readText(print.text, "text");
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
        readText(ask.prompt, "text");
        node.value = std::move(ask);
        return;
      }
      case Operator::File: {
        File file;
        readText(file.path, "the path of a file");
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
    refuseValue("a list of queries", next == JsonKind::Object ? "put the query into a list: […]" : "");
    return;
  }
  Join join{kind, {}};
  const std::string step = std::string("/") + joinName(kind) + "/";
  m_cursor.enterArray();
  for (ValueCursor::Container array; m_cursor.nextElement(array);) {
    const std::string index = std::to_string(join.children.size());
    join.children.emplace_back();
    within(index, [&] { readNode(join.children.back(), step + index); });
  }
  if (!m_cursor.stopped() && join.children.empty()) {
    warning(begin, std::string("a ") + joinName(kind) + " without queries", "at least one",
            "it adds nothing");
  }
  node.value = std::move(join);
}

void QueryReader::readGenerate(Generate& generate, std::string step) {
  const std::size_t errorsBefore = m_errors;
  std::size_t inputOffset = 0;
  const std::array fields = {
      Field{"model", Need::Required, "the name of a model",
            [&] { readModel(generate.settings.model, "the name of a model"); }},
      Field{"max_tokens", Need::Optional, nullptr, [&] { readMaxTokens(generate.settings.maxTokens); }},
      Field{"temperature", Need::Optional, nullptr, [&] { readTemperature(generate.settings.temperature); }},
      Field{"input", Need::Required, "the query to go on from",
            [&] {
              m_cursor.peek();
              inputOffset = m_cursor.offset();
              readNode(*generate.input, std::move(step));
            }},
  };
  readFields(ListForm::Refused, fields);
  if (m_errors == errorsBefore && hasNoPrompt(*generate.input)) {
    within("input", [&] {
      warning(inputOffset, "an input without text", "a prompt", "the model is asked to go on from nothing");
    });
  }
}

void QueryReader::readRepeat(Node& node) {
  Repeat repeat;
  std::optional<ValueCursor::Mark> legacy;
  std::size_t legacyKey = 0;
  std::optional<std::size_t> secondLegacyKey;
  const std::array fields = {
      Field{"n", Need::Required, "how often", [&] { readCount(repeat.count); }},
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
    within(key, [this] { m_cursor.skipValue(); });
    return true;
  };
  m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  const FieldsRead read = readFields(ListForm::Allowed, fields, readOther);
  if (read.isComplete && read.seen[1] && legacy) {
    warning(legacyKey, "\"query\" beside \"g\"", "one of them", "\"query\" is ignored");
  } else if (read.isComplete && !read.seen[1] && legacy) {
    if (secondLegacyKey) error(*secondLegacyKey, "the field \"query\" twice", "it once");
    const ValueCursor::Mark end = m_cursor.mark();
    m_cursor.goTo(*legacy);
    within("query", [&] { readLegacyGenerate(repeat.generate); });
    if (!m_cursor.stopped()) m_cursor.goTo(end);
  } else if (read.isComplete && !read.seen[1]) {
    error(begin, "no field \"g\"", "\"g\": what to generate");
  }
  node.value = std::move(repeat);
}

void QueryReader::readLegacyGenerate(Generate& generate) {
  constexpr const char* kForm = "a generate: {\"g\": {…}}";
  if (m_cursor.peek() != JsonKind::Object) {
    refuseValue(kForm);
    return;
  }
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterObject();
  std::size_t count = 0;
  std::string key;
  for (ValueCursor::Container object; m_cursor.nextMember(object, key); ++count) {
    within(key, [&] {
      if (key == "g" && count == 0) {
        readGenerate(generate, "/repeat/g/input");
        return;
      }
      error(object.keyOffset, (count == 0 ? "the key " : "a second key, ") + quoted(key), kForm,
            "only a generate can be repeated");
      m_cursor.skipValue();
    });
  }
  if (!m_cursor.stopped() && count == 0) error(begin, "an empty object", kForm);
}

void QueryReader::readMap(Node& node) {
  Map map;
  const auto readMetadata = [&] {
    const std::array fields = {
        Field{"model", Need::Required, "the name of a model",
              [&] { readModel(map.settings.model, "the name of a model"); }},
        Field{"max_tokens", Need::Optional, nullptr, [&] { readMaxTokens(map.settings.maxTokens); }},
        Field{"temperature", Need::Optional, nullptr, [&] { readTemperature(map.settings.temperature); }},
    };
    readFields(ListForm::Allowed, fields);
  };
  const std::array fields = {
      Field{"metadata", Need::Required, "the model and its settings", readMetadata},
      Field{"inputs", Need::Required, "a list of texts", [&] { readInputs(map.inputs); }},
  };
  readFields(ListForm::Allowed, fields);
  node.value = std::move(map);
}

void QueryReader::readInputs(std::vector<std::string>& inputs) {
  if (m_cursor.peek() != JsonKind::Array) {
    refuseValue("a list of texts");
    return;
  }
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterArray();
  for (ValueCursor::Container array; m_cursor.nextElement(array);) {
    const JsonKind kind = m_cursor.peek();
    if (!countNode(m_cursor.offset())) return;
    inputs.emplace_back();
    within(std::to_string(inputs.size() - 1), [&] {
      if (kind == JsonKind::Object) {
        refuseValue("text", "the inputs of a map are texts; each becomes a user message");
      } else {
        readText(inputs.back(), "text");
      }
    });
  }
  if (!m_cursor.stopped() && inputs.empty()) {
    warning(begin, "a map without inputs", "at least one", "it adds nothing");
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
  readFields(ListForm::Allowed, fields);
  node.value = std::move(zip);
}

void QueryReader::readAugment(Node& node) {
  Augment augment;
  const std::array fields = {
      Field{"embedding_model", Need::Required, "the name of a model",
            [&] { readModel(augment.embeddingModel, "the name of an embedding model"); }},
      Field{"body", Need::Required, "the query to find fragments for",
            [&] { readNode(*augment.body, "/augment/body"); }},
      Field{"doc", Need::Required, "a list of a name and a content", [&] { readDocument(augment.document); }},
  };
  readFields(ListForm::Allowed, fields);
  node.value = std::move(augment);
}

void QueryReader::readDocument(Document& document) {
  constexpr const char* kForm = "a list of two: a name, and {\"Text\": …} or {\"Binary\": […]}";
  if (m_cursor.peek() != JsonKind::Array) {
    refuseValue(kForm);
    return;
  }
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; m_cursor.nextElement(array); ++count) {
    within(std::to_string(count), [&] {
      if (count == 0) {
        readText(document.name, "the name of a document");
      } else if (count == 1) {
        readDocumentContent(document);
      } else {
        if (count == 2) refuseExtraElement(kForm);
        m_cursor.skipValue();
      }
    });
  }
  if (!m_cursor.stopped() && count < 2) {
    error(begin, count == 0 ? "an empty list" : "a list of one element", kForm);
  }
}

void QueryReader::readDocumentContent(Document& document) {
  constexpr const char* kForm = "{\"Text\": …} or {\"Binary\": […]}";
  if (m_cursor.peek() != JsonKind::Object) {
    refuseValue(kForm);
    return;
  }
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterObject();
  std::size_t count = 0;
  std::string key;
  for (ValueCursor::Container object; m_cursor.nextMember(object, key); ++count) {
    within(key, [&] {
      if (count > 0 || (key != "Text" && key != "Binary")) {
        const auto meant = nearestName(key, {"Text", "Binary"});
        error(object.keyOffset, (count == 0 ? "the key " : "a second key, ") + quoted(key), kForm,
              count == 0 && meant ? "did you mean \"" + *meant + "\"?" : "");
        m_cursor.skipValue();
      } else if (key == "Text") {
        readText(document.content.emplace<std::string>(), "the text of the document");
      } else {
        readBytes(document.content.emplace<std::vector<std::uint8_t>>());
      }
    });
  }
  if (!m_cursor.stopped() && count == 0) error(begin, "an empty object", kForm);
}

void QueryReader::readBytes(std::vector<std::uint8_t>& bytes) {
  if (m_cursor.peek() != JsonKind::Array) {
    refuseValue("a list of bytes");
    return;
  }
  m_cursor.enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; m_cursor.nextElement(array); ++count) {
    within(std::to_string(count), [&] {
      const auto byte = readWholeNumber(0, 255, "a byte: a whole number from 0 to 255");
      if (byte) bytes.push_back(static_cast<std::uint8_t>(*byte));
    });
  }
}

void QueryReader::readText(std::string& text, const char* expected) {
  if (m_cursor.peek() == JsonKind::String) {
    text = m_cursor.readString();
  } else {
    refuseValue(expected, m_cursor.textHint(m_cursor.peek()));
  }
}

void QueryReader::readModel(std::string& model, const char* expected) {
  const bool isText = m_cursor.peek() == JsonKind::String;
  const std::size_t begin = m_cursor.offset();
  readText(model, expected);
  if (isText && model.empty()) warning(begin, "an empty name", expected);
}

void QueryReader::readMaxTokens(Setting<std::int32_t>& setting) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::string expected = "a whole number from " + std::to_string(Limits::min()) + " to " +
                               std::to_string(Limits::max()) + ", or null";
  const JsonKind kind = m_cursor.peekNumber();
  const std::size_t begin = m_cursor.offset();
  if (kind == JsonKind::Null) {
    m_cursor.readLiteral();
    setting = Null{};
  } else if (kind == JsonKind::String) {
    if (auto parameter = readNumberParameter(expected)) setting = std::move(*parameter);
  } else if (const auto value = readWholeNumber(Limits::min(), Limits::max(), expected)) {
    setting = static_cast<std::int32_t>(*value);
    if (*value < 0)
      warning(begin, "the number " + std::to_string(*value), "0, the server's own limit, or more");
  }
}

void QueryReader::readTemperature(Setting<float>& setting) {
  constexpr const char* kExpected = "a number or null";
  const JsonKind kind = m_cursor.peekNumber();
  const std::size_t begin = m_cursor.offset();
  if (kind == JsonKind::Null) {
    m_cursor.readLiteral();
    setting = Null{};
  } else if (kind == JsonKind::String) {
    if (auto parameter = readNumberParameter(kExpected)) setting = std::move(*parameter);
  } else if (kind == JsonKind::Number) {
    const std::size_t errorsBefore = m_errors;
    const std::string_view number = m_cursor.readNumber();
    if (m_errors > errorsBefore) return;
    const float value = floatValue(number);
    setting = value;
    const std::string found = "the number " + cutText(number, kShownCharacters);
    if (std::isinf(value)) {
      warning(begin, found, "a temperature that a 32-bit float can hold", "it is read as infinite");
    } else if (value < 0) {
      warning(begin, found, "a temperature of 0 or more");
    }
  } else {
    refuseValue(kExpected);
  }
}

void QueryReader::readCount(std::variant<std::uint8_t, Parameter>& count) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint8_t>::max();
  const std::string expected = "a whole number from 0 to 255";
  const JsonKind kind = m_cursor.peekNumber();
  const std::size_t begin = m_cursor.offset();
  if (kind == JsonKind::String) {
    if (auto parameter = readNumberParameter(expected)) count = std::move(*parameter);
  } else if (const auto value = readWholeNumber(0, kMost, expected)) {
    count = static_cast<std::uint8_t>(*value);
    if (*value == 0) warning(begin, "a repeat of 0 times", "at least 1", "it adds nothing");
  }
}

std::optional<std::int64_t> QueryReader::readWholeNumber(std::int64_t least, std::int64_t most,
                                                         const std::string& expected) {
  if (m_cursor.peekNumber() != JsonKind::Number) {
    refuseValue(expected);
    return std::nullopt;
  }
  const std::size_t begin = m_cursor.offset();
  const std::size_t errorsBefore = m_errors;
  const std::string_view number = m_cursor.readNumber();
  if (m_errors > errorsBefore) return std::nullopt;
  const bool isWhole = isWholeNumber(number);
  const auto value = isWhole ? wholeNumberValue(number) : std::nullopt;
  if (!value || *value < least || *value > most) {
    error(begin, "the number " + cutText(number, kShownCharacters), expected,
          isWhole          ? ""
          : number == "-0" ? "write 0"
                           : "write it without a fraction and an exponent");
    return std::nullopt;
  }
  return value;
}

std::optional<Parameter> QueryReader::readNumberParameter(const std::string& expected) {
  const std::size_t begin = m_cursor.offset();
  const std::size_t errorsBefore = m_errors;
  const std::string text = m_cursor.readString();
  if (m_errors > errorsBefore) return std::nullopt;
  if (auto name = parameterName(text)) return Parameter{std::move(*name)};
  error(begin, "the text " + quoted(text), expected,
        isJsonNumber(text) ? "write it without quotes" : "a parameter is written \"{name}\"");
  return std::nullopt;
}

QueryReader::FieldsRead QueryReader::readFields(ListForm listForm, std::span<const Field> fields,
                                                const OtherField& readOther) {
  FieldsRead read{std::vector<bool>(fields.size(), false), false};
  const JsonKind kind = m_cursor.peek();
  if (kind == JsonKind::Object) {
    readMembers(fields, readOther, read);
  } else if (kind == JsonKind::Array && listForm == ListForm::Allowed) {
    readElements(fields, read);
  } else {
    refuseValue("an object with the fields " + namesOf(fields));
  }
  return read;
}

void QueryReader::readMembers(std::span<const Field> fields, const OtherField& readOther, FieldsRead& read) {
  const std::size_t begin = m_cursor.offset();
  m_cursor.enterObject();
  std::string key;
  for (ValueCursor::Container object; m_cursor.nextMember(object, key);) {
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return key == f.name; });
    if (field == fields.end()) {
      if (readOther && readOther(key, object.keyOffset)) continue;
      within(key, [&] {
        warnOfUnknownField(key, object.keyOffset, fields);
        m_cursor.skipValue();
      });
      continue;
    }
    const auto index = static_cast<std::size_t>(field - fields.begin());
    within(key, [&] {
      if (!read.seen[index]) {
        read.seen[index] = true;
        field->read();
      } else {
        error(object.keyOffset, "the field " + quoted(key) + " twice", "it once");
        m_cursor.skipValue();
      }
    });
  }
  if (m_cursor.stopped()) return;
  read.isComplete = true;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (read.seen[i] || fields[i].need != Need::Required) continue;
    const std::string name = quoted(fields[i].name);
    error(begin, "no field " + name, name + ": " + fields[i].meaning);
  }
}

void QueryReader::readElements(std::span<const Field> fields, FieldsRead& read) {
  const std::size_t begin = m_cursor.offset();
  const std::string form = "a list of " + namesOf(fields);
  m_cursor.enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; m_cursor.nextElement(array); ++count) {
    within(std::to_string(count), [&] {
      if (count < fields.size()) {
        read.seen[count] = true;
        fields[count].read();
      } else {
        if (count == fields.size()) refuseExtraElement(form);
        m_cursor.skipValue();
      }
    });
  }
  if (m_cursor.stopped()) return;
  const bool isShort = count < fields.size() && fields[count].need != Need::Optional;
  if (isShort) error(begin, std::string("a list without its ") + fields[count].name, form);
  read.isComplete = !isShort;
}

std::string QueryReader::namesOf(std::span<const Field> fields) {
  std::string names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) names += i + 1 == fields.size() ? " and " : ", ";
    names += fields[i].name;
  }
  return names;
}

void QueryReader::warnOfUnknownField(const std::string& key, std::size_t offset,
                                     std::span<const Field> fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.emplace_back(field.name);
  const auto meant = nearestName(key, names);
  std::string hint = "it is ignored";
  if (meant) hint += "; did you mean \"" + *meant + "\"?";
  // Within a repeat, "g" names the generate itself; elsewhere it names the operator, so it is easily written
  // twice.
  if (key == "g") hint += "; the fields of a generate stand here directly";
  warning(offset, "the unknown field " + quoted(key), "one of " + namesOf(fields), std::move(hint));
}

void QueryReader::refuseExtraElement(const std::string& form) {
  m_cursor.peek();
  error(m_cursor.offset(), "one element more", form);
}

void QueryReader::refuseValue(std::string expected, std::string hint) {
  const JsonKind kind = m_cursor.peek();
  if (kind != JsonKind::End && kind != JsonKind::Invalid) {
    error(m_cursor.offset(), m_cursor.describeNext(kind), std::move(expected), std::move(hint));
  }
  m_cursor.skipValue();
}

void QueryReader::jsonIssue(JsonIssue issue) {
  report(Severity::Error, std::move(issue));
}

void QueryReader::error(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Error, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void QueryReader::warning(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Warning, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void QueryReader::report(Severity severity, JsonIssue issue) {
  std::size_t& count = severity == Severity::Error ? m_errors : m_warnings;
  ++count;
  if (count > m_limits.maxDiagnostics) {
    if (severity == Severity::Warning || count > m_limits.maxDiagnostics + 1) return;
    issue = {issue.offset, "more than " + std::to_string(m_limits.maxDiagnostics) + " errors", "none",
             "what follows was not read"};
    m_cursor.stop();
  }
  m_diagnostics.push_back({severity,
                           pointer(),
                           {},
                           issue.offset,
                           std::move(issue.found),
                           std::move(issue.expected),
                           std::move(issue.hint)});
}

std::string QueryReader::pointer() const {
  std::string pointer;
  for (const std::string& step : m_path) pointer += pointerStep(step);
  return pointer;
}

void QueryReader::finishDiagnostics(ParseResult& result) {
  const auto isEarlier = [](const Diagnostic& a, const Diagnostic& b) { return a.offset < b.offset; };
  std::stable_sort(m_diagnostics.begin(), m_diagnostics.end(), isEarlier);
  // A repeat's older form is passed once before it is read, so what is wrong within its strings and numbers
  // is met twice; the second time the place is known better.
  std::vector<Diagnostic>& kept = result.diagnostics;
  for (Diagnostic& diagnostic : m_diagnostics) {
    std::size_t same = kept.size();
    for (std::size_t i = kept.size(); i > 0 && kept[i - 1].offset == diagnostic.offset; --i) {
      if (kept[i - 1].found == diagnostic.found && kept[i - 1].expected == diagnostic.expected) same = i - 1;
    }
    if (same < kept.size()) {
      kept[same] = std::move(diagnostic);
    } else {
      kept.push_back(std::move(diagnostic));
    }
  }
  locate(result.diagnostics, m_text);
}

bool QueryReader::countNode(std::size_t offset) {
  if (m_cursor.stopped()) return false;
  if (++m_nodes <= m_limits.maxNodes) return true;
  error(offset, "more nodes", "at most " + std::to_string(m_limits.maxNodes) + " in a query",
        "what follows was not read");
  m_cursor.stop();
  return false;
}

std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes) {
  Diagnostic problem;
  if (text.size() > maxBytes) {
    problem.position = {1, 1};
    problem.found = "a document of " + std::to_string(text.size()) + " bytes";
    problem.expected = "at most " + std::to_string(maxBytes);
    return problem;
  }
  const std::size_t invalid = findInvalidUtf8(text);
  if (invalid == std::string_view::npos) return std::nullopt;
  problem.offset = invalid;
  problem.position = positionAt(text, invalid);
  problem.found = describeByte(text[invalid]);
  problem.expected = "UTF-8";
  problem.hint = "save the file as UTF-8";
  return problem;
}

}  // namespace spanscope::query
