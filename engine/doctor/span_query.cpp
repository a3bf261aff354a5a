// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/span_query.h"

#include "engine/base/counted.h"
#include "engine/base/hash.h"
#include "engine/base/utf8.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace spanscope::doctor {
namespace {

using query::Join;
using query::JoinKind;
using query::Node;
using query::Role;

constexpr std::size_t kLeastDocumentBytes = 40;

/// A piece of a text. The pieces of a text contain all its bytes.
struct Piece {
  std::string_view text;
  bool isDocument = false;
};

/// Cuts a text before each border.
std::vector<std::string_view> cutBefore(std::string_view text, std::string_view border) {
  std::vector<std::string_view> cut;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t next = std::min(text.find(border, begin + 1), text.size());
    cut.push_back(text.substr(begin, next - begin));
    begin = next;
  }
  return cut;
}

/// Cuts a text after each empty line.
std::vector<std::string_view> cutAfterEmptyLines(std::string_view text) {
  std::vector<std::string_view> cut;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.find("\n\n", begin), text.size());
    while (end < text.size() && text[end] == '\n') ++end;
    cut.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return cut;
}

/// Finds the documents of a text: elements such as <document>, or long paragraphs. Fewer than two documents
/// are one piece. The last paragraph is mostly the question, and no document.
std::vector<Piece> piecesIn(std::string_view text) {
  for (const std::string_view tag : {"<document", "<doc"}) {
    const std::vector<std::string_view> cut = cutBefore(text, tag);
    std::vector<Piece> pieces;
    std::size_t documents = 0;
    for (std::string_view piece : cut) {
      if (!piece.starts_with(tag)) {
        pieces.push_back({piece, false});
        continue;
      }
      // Text after the end of the element is no document.
      const std::size_t close = piece.rfind("</");
      std::size_t end = close == std::string_view::npos ? piece.size() : piece.find('>', close);
      end = end == std::string_view::npos ? piece.size() : std::min(piece.size(), end + 1);
      // The line break belongs to the document.
      if (end < piece.size() && piece[end] == '\n') ++end;
      pieces.push_back({piece.substr(0, end), true});
      ++documents;
      if (end < piece.size()) pieces.push_back({piece.substr(end), false});
    }
    if (documents >= 2) return pieces;
  }
  const std::vector<std::string_view> cut = cutAfterEmptyLines(text);
  std::vector<Piece> pieces;
  std::size_t documents = 0;
  for (std::size_t i = 0; i < cut.size(); ++i) {
    const bool isLong = cut[i].size() >= kLeastDocumentBytes && i + 1 < cut.size();
    documents += isLong ? 1 : 0;
    pieces.push_back({cut[i], isLong});
  }
  return documents >= 2 ? pieces : std::vector<Piece>{{text, false}};
}

std::uint64_t hashOf(std::string_view part) {
  return hash64(trimmed(part));
}

std::size_t estimatedTokens(std::string_view text) {
  std::vector<TokenId> ids;
  estimateTokens(text, ids);
  return ids.size();
}

Role roleOf(const std::string& role) {
  if (role == "system") return Role::System;
  return role == "assistant" ? Role::Assistant : Role::User;
}

/// Whether messages i and i + 1 are a question and its answer.
bool isTurn(const std::vector<Message>& messages, std::size_t i) {
  return i + 2 < messages.size() && messages[i].role == "user" && messages[i + 1].role == "assistant";
}

bool isExample(const LoggedRequest& request, std::size_t i, const PartCounts& counts) {
  return isTurn(request.messages, i) && counts.of(messageText(request.messages[i])) >= 2 &&
         counts.of(messageText(request.messages[i + 1])) >= 2;
}

/// The turns from message `begin` on, as the end of the last one.
std::size_t endOfTurns(const LoggedRequest& request, std::size_t begin) {
  std::size_t end = begin;
  while (isTurn(request.messages, end)) end += 2;
  return end;
}

/// Writes the parts of a query. With counts, parts that few requests have become parameters.
class QueryWriter {
 public:
  QueryWriter(const LoggedRequest& request, const std::vector<SpanProposal>& accepted,
              const PartCounts* counts)
      : m_request(request), m_accepted(accepted), m_counts(counts) {}

  SpanQuery write() {
    writeTools();
    const std::vector<Message>& messages = m_request.messages;
    for (std::size_t i = 0; i < messages.size();) {
      if (const SpanProposal* turns = turnsAt(i)) {
        Join plus{.kind = JoinKind::Plus, .children = {}};
        for (std::size_t part = 0; part < turns->parts; ++part, i += 2) {
          Join turn{.kind = JoinKind::Seq, .children = {}};
          turn.children.push_back(message(messages[i], "question"));
          turn.children.push_back(message(messages[i + 1], "answer"));
          plus.children.push_back({std::move(turn)});
        }
        m_top.children.push_back({std::move(plus)});
        continue;
      }
      writeMessage(i++);
    }
    if (m_top.children.empty()) m_top.children.push_back(leaf(Role::User, ""));
    query::Generate generate;
    generate.settings.model = toValidUtf8(redacted(m_request.model));
    generate.input = Node{std::move(m_top)};
    return {.query = {std::move(generate)}, .parameters = std::move(m_parameters)};
  }

 private:
  static Node leaf(Role role, std::string text) { return {query::Message{role, std::move(text)}}; }

  /// A leaf with the text, or with a parameter whose default is the text.
  Node part(Role role, std::string_view given, const char* name) {
    std::string text = toValidUtf8(redacted(given));
    const bool isFixed = m_counts == nullptr || 2 * m_counts->of(given) >= m_counts->requests();
    if (isFixed || trimmed(text).empty()) return leaf(role, std::move(text));
    const std::string numbered = name + ("_" + std::to_string(++m_numbers[name]));
    m_parameters.push_back({.name = numbered, .kind = query::ParameterKind::Text, .defaultValue = text});
    return leaf(role, "{" + numbered + "}");
  }

  Node message(const Message& message, const char* name) {
    return part(roleOf(message.role), messageText(message), name);
  }

  bool isAccepted(SpanKind kind, std::size_t message) const {
    return std::ranges::any_of(
        m_accepted, [&](const SpanProposal& one) { return one.kind == kind && one.message == message; });
  }
  const SpanProposal* turnsAt(std::size_t message) const {
    for (const SpanProposal& one : m_accepted)
      if ((one.kind == SpanKind::Examples || one.kind == SpanKind::History) && one.message == message)
        return &one;
    return nullptr;
  }

  void writeTools() {
    if (m_request.tools.empty()) return;
    m_top.children.push_back(leaf(Role::System, "Tools:\n"));
    Join tools{.kind = isAccepted(SpanKind::Tools, 0) ? JoinKind::Plus : JoinKind::Seq, .children = {}};
    for (const Tool& tool : m_request.tools) tools.children.push_back(part(Role::System, tool.text, "tool"));
    m_top.children.push_back({std::move(tools)});
  }

  void writeMessage(std::size_t index) {
    const Message& given = m_request.messages[index];
    const Role role = roleOf(given.role);
    const char* name = role == Role::System                     ? "system"
                       : role == Role::Assistant                ? "answer"
                       : index + 1 == m_request.messages.size() ? "question"
                                                                : "message";
    const std::string text = messageText(given);
    if (!isAccepted(SpanKind::Documents, index)) {
      m_top.children.push_back(message(given, name));
      return;
    }
    Join plus{.kind = JoinKind::Plus, .children = {}};
    const auto endDocuments = [&] {
      if (!plus.children.empty())
        m_top.children.push_back({std::exchange(plus, Join{.kind = JoinKind::Plus, .children = {}})});
    };
    for (const Piece& piece : piecesIn(text)) {
      if (piece.isDocument) {
        plus.children.push_back(part(role, piece.text, "document"));
        continue;
      }
      if (trimmed(piece.text).empty()) continue;
      endDocuments();
      m_top.children.push_back(part(role, piece.text, name));
    }
    endDocuments();
  }

  const LoggedRequest& m_request;
  const std::vector<SpanProposal>& m_accepted;
  const PartCounts* m_counts;
  Join m_top{.kind = JoinKind::Cross, .children = {}};
  std::vector<query::ParameterDeclaration> m_parameters;
  std::unordered_map<std::string, std::size_t> m_numbers;  ///< of parameters, by name
};

}  // namespace

void PartCounts::add(const LoggedRequest& request) {
  ++m_requests;
  const auto note = [this](std::string_view part) {
    Count& count = m_counts[hashOf(part)];
    // A part counts once for each request.
    if (std::exchange(count.last, static_cast<std::uint32_t>(m_requests)) !=
        static_cast<std::uint32_t>(m_requests))
      ++count.requests;
  };
  for (const Tool& tool : request.tools) note(tool.text);
  for (const Message& message : request.messages) {
    const std::string text = messageText(message);
    note(text);
    for (const Piece& piece : piecesIn(text)) note(piece.text);
  }
}

std::size_t PartCounts::of(std::string_view part) const {
  const auto found = m_counts.find(hashOf(part));
  return found == m_counts.end() ? 0 : found->second.requests;
}

PartCounts countParts(const LogReader& log, const std::stop_token& stop) {
  PartCounts counts;
  log.read([&](LoggedRequest&& request) { counts.add(request); }, [](const LogProblem&) {}, stop);
  return counts;
}

std::vector<SpanProposal> proposeSpans(const LoggedRequest& request, const PartCounts& counts) {
  std::vector<SpanProposal> proposals;
  const auto shared = [&](std::string_view part) { return counts.of(part) >= 2 ? 1U : 0U; };
  if (request.tools.size() >= 2) {
    SpanProposal tools{.kind = SpanKind::Tools, .parts = request.tools.size(), .name = {}, .byDefault = true};
    for (const Tool& tool : request.tools) {
      tools.tokens += estimatedTokens(tool.text);
      tools.shared += shared(tool.text);
    }
    tools.name = counted(tools.parts, "tool");
    proposals.push_back(std::move(tools));
  }
  const std::vector<Message>& messages = request.messages;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::size_t end = endOfTurns(request, i);
    if (end - i >= 4) {
      // The same examples begin many conversations. The history of a conversation is in its own requests
      // only.
      std::size_t examples = i;
      while (examples < end && isExample(request, examples, counts)) examples += 2;
      const bool isExamples = i <= 1 && examples == end && counts.requests() > 2 &&
                              2 * counts.of(messageText(messages[i])) >= counts.requests();
      SpanProposal turns{.kind = isExamples ? SpanKind::Examples : SpanKind::History,
                         .message = i,
                         .parts = (end - i) / 2,
                         .name = {},
                         .byDefault = isExamples};
      for (std::size_t part = i; part < end; ++part) {
        const std::string text = messageText(messages[part]);
        turns.tokens += estimatedTokens(text);
        if (part % 2 == i % 2) turns.shared += shared(text);
      }
      turns.name = counted(turns.parts, isExamples ? "example" : "earlier turn");
      proposals.push_back(std::move(turns));
      i = end - 1;
      continue;
    }
    SpanProposal documents{.message = i, .name = {}, .byDefault = true};
    const std::string text = messageText(messages[i]);
    for (const Piece& piece : piecesIn(text)) {
      if (!piece.isDocument) continue;
      ++documents.parts;
      documents.tokens += estimatedTokens(piece.text);
      documents.shared += shared(piece.text);
    }
    if (documents.parts < 2) continue;
    documents.name =
        counted(documents.parts, "document") + " of " + sectionName(request, static_cast<std::int32_t>(i));
    // Paragraphs that no other request has are mostly one text.
    documents.byDefault = documents.shared > 0;
    proposals.push_back(std::move(documents));
  }
  return proposals;
}

SpanQuery queryOf(const LoggedRequest& request, const std::vector<SpanProposal>& accepted) {
  return QueryWriter(request, accepted, nullptr).write();
}

SpanQuery templateOf(const LoggedRequest& request, const PartCounts& counts,
                     const std::vector<SpanProposal>& accepted) {
  return QueryWriter(request, accepted, &counts).write();
}

}  // namespace spanscope::doctor
