// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/json.h"
#include "engine/query/value_cursor.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Reads one query from a document of values: the part of parseJson() and parseYaml() that knows the
/// language. Used once.
class QueryReader : private ValueCursor::Listener {
 public:
  /// Makes the cursor that walks through the text and reports to the listener.
  using MakeCursor = std::function<std::unique_ptr<ValueCursor>(ValueCursor::Listener&)>;

  /// `text` is well-formed UTF-8 of a size within the limits: what the offsets of the cursor refer to.
  QueryReader(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor);

  ParseResult read();

 private:
  enum class Need {
    Required,
    RequiredInList,  ///< as an object there is another way to say it, which the caller looks after
    Optional,
  };
  /// One field of an operator that is written as an object, or as a list in the order of its fields.
  struct Field {
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

  void jsonIssue(JsonIssue issue) override;

  void readNode(Node& node, std::string step);
  void readOperator(std::string_view key, Node& node);
  void readUnknownOperator(const std::string& key, std::size_t offset);
  void readJoin(JoinKind kind, Node& node);
  void readGenerate(Generate& generate, std::string step);
  void readRepeat(Node& node);
  void readLegacyGenerate(Generate& generate);
  void readMap(Node& node);
  void readInputs(std::vector<std::string>& inputs);
  void readZip(Node& node);
  void readAugment(Node& node);
  void readDocument(Document& document);
  void readDocumentContent(Document& document);
  void readBytes(std::vector<std::uint8_t>& bytes);

  /// Reads the fields of an operator and reports those that are missing, given twice or unknown.
  FieldsRead readFields(ListForm listForm, std::span<const Field> fields, const OtherField& readOther = {});
  void readMembers(std::span<const Field> fields, const OtherField& readOther, FieldsRead& read);
  void readElements(std::span<const Field> fields, FieldsRead& read);
  void warnOfUnknownField(const std::string& key, std::size_t offset, std::span<const Field> fields);
  static std::string namesOf(std::span<const Field> fields);

  void readText(std::string& text, const char* expected);
  void readModel(std::string& model, const char* expected);
  void readMaxTokens(Setting<std::int32_t>& setting);
  void readTemperature(Setting<float>& setting);
  void readCount(std::variant<std::uint8_t, Parameter>& count);
  /// A whole number from `least` to `most`; reports and returns nothing if there is something else.
  std::optional<std::int64_t> readWholeNumber(std::int64_t least, std::int64_t most,
                                              const std::string& expected);
  /// The parameter that stands in a text where a number belongs, or nothing after a report.
  std::optional<Parameter> readNumberParameter(const std::string& expected);

  /// Reports that the next value is of the wrong kind, and passes it.
  void refuseValue(std::string expected, std::string hint = {});
  /// Reports that a list goes on after its last element. Does not pass what is too much.
  void refuseExtraElement(const std::string& form);

  void report(Severity severity, JsonIssue issue);
  void error(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  void warning(std::size_t offset, std::string found, std::string expected, std::string hint = {});
  /// The pointer of the place that is being read.
  std::string pointer() const;
  void finishDiagnostics(ParseResult& result);

  /// Reads something that stands one step below what is being read.
  template <class Read>
  void within(std::string step, Read read) {
    m_path.push_back(std::move(step));
    read();
    m_path.pop_back();
  }
  bool countNode(std::size_t offset);

  std::string_view m_text;
  ParseLimits m_limits;
  std::unique_ptr<ValueCursor> m_ownCursor;
  ValueCursor& m_cursor;
  std::vector<std::string> m_path;  ///< keys and indices as they stand in the document
  std::vector<Diagnostic> m_diagnostics;
  SourceMap m_sources;
  std::size_t m_nodes = 0;
  std::size_t m_errors = 0;
  std::size_t m_warnings = 0;
};

/// What is wrong with a text before its form matters: its size, bytes that are not UTF-8.
std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes);

}  // namespace spanscope::query
