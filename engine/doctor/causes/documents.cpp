// SPDX-License-Identifier: GPL-3.0-or-later
// The causes about documents: in another order, or at another place.
#include "engine/base/translation.h"
#include "engine/base/utf8.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/prompt_tokens.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::doctor {
namespace {

constexpr std::size_t kLeastDocument = 40;  // bytes

/// A document without its number, which changes with its place.
std::string withoutNumber(std::string_view chunk) {
  constexpr std::size_t kHead = 32;
  std::string text(chunk);
  const auto head = text.begin() + static_cast<std::ptrdiff_t>(std::min(kHead, text.size()));
  const auto begin = std::find_if(text.begin(), head, isDigit);
  const auto end = std::find_if_not(begin, head, isDigit);
  if (end - begin <= 3) text.erase(begin, end);
  return text;
}

/// Splits a text at a border. If chunks keep their border, the border begins an element, and the element ends
/// with its closing tag.
std::vector<std::string_view> chunksOf(std::string_view text, std::string_view border, bool keepsBorder) {
  std::vector<std::string_view> chunks;
  const auto add = [&chunks](std::string_view chunk) {
    if (chunk = trimmed(chunk); !chunk.empty()) chunks.push_back(chunk);
  };
  std::size_t at = 0;
  while (at <= text.size()) {
    const bool isElement = keepsBorder && text.substr(at).starts_with(border);
    const std::size_t next = std::min(text.find(border, at + (isElement ? 1 : 0)), text.size());
    std::string_view chunk = text.substr(at, next - at);
    if (isElement) {
      const std::size_t closing = chunk.find("</" + std::string(border.substr(1)));
      const std::size_t end = closing == std::string_view::npos ? closing : chunk.find('>', closing);
      if (end != std::string_view::npos) {
        add(chunk.substr(0, end + 1));
        chunk.remove_prefix(end + 1);
      }
    }
    add(chunk);
    if (next == text.size()) break;
    at = keepsBorder ? next : next + border.size();
  }
  return chunks;
}

struct SharedDocuments {
  std::string_view border;
  bool keepsBorder = false;
  std::size_t shared = 0;   ///< long documents of both
  std::size_t onlyNow = 0;  ///< long documents of one, without the last text (the question)
  std::size_t onlyBefore = 0;
  std::size_t begin = 0;     ///< of the first shared document, in the earlier text
  bool isReordered = false;  ///< the shared documents have another order
  bool hasMoved = false;     ///< a shared document has another number
};

std::optional<SharedDocuments> sharedDocuments(std::string_view before, std::string_view now) {
  using Form = std::pair<std::string_view, bool>;
  for (const auto& [border, keeps] :
       {Form{"<document", true}, Form{"<doc", true}, Form{"\n\n", false}, Form{"\n", false}}) {
    const auto one = chunksOf(before, border, keeps);
    const auto other = chunksOf(now, border, keeps);
    if (one.size() < 2 && other.size() < 2) continue;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < one.size(); ++i)
      if (one[i].size() >= kLeastDocument) places.emplace(withoutNumber(one[i]), i);
    SharedDocuments found{.border = border, .keepsBorder = keeps};
    std::size_t last = 0;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (other[i].size() < kLeastDocument) continue;
      const std::string key = withoutNumber(other[i]);
      const auto place = places.find(key);
      if (place == places.end()) {
        found.onlyNow += i + 1 < other.size() ? 1 : 0;
        continue;
      }
      if (!seen.insert(key).second) continue;
      found.hasMoved = found.hasMoved || place->second != i;
      if (found.shared > 0 && place->second < last) found.isReordered = true;
      last = place->second;
      ++found.shared;
    }
    for (const auto& [key, place] : places)
      found.onlyBefore += !seen.contains(key) && place + 1 < one.size() ? 1 : 0;
    if (found.shared == 0) continue;
    found.begin = before.size();
    for (const std::string_view chunk : one)
      if (seen.contains(withoutNumber(chunk)))
        found.begin = std::min(found.begin, static_cast<std::size_t>(chunk.data() - before.data()));
    return found;
  }
  return {};
}

bool isDocumentOrder(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change == Difference::Change::Permuted) {
    finding.detail = "messages in another order";
    return true;
  }
  if (d.change != Difference::Change::Edited) return false;
  const auto shared = sharedDocuments(d.beforeText, d.nowText);
  if (!shared || shared->shared < 2 || !shared->isReordered || shared->onlyNow > 0 || shared->onlyBefore > 0)
    return false;
  // A difference before the documents has another cause.
  if (at < shared->begin) return false;
  finding.detail = std::to_string(shared->shared) + " documents";
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

bool isSystemSection(const Difference& d) {
  const auto index = static_cast<std::size_t>(d.nowSection);
  return d.nowSection >= 0 && index < d.now->messages.size() && d.now->messages[index].role == "system";
}

bool isDocumentElsewhere(const Difference& d, std::size_t at, Finding& finding) {
  constexpr std::size_t kLeastTokens = 64;
  if (d.change == Difference::Change::Removed || d.nowSection == kToolsSection) return false;
  const auto shared =
      d.change == Difference::Change::Edited ? sharedDocuments(d.beforeText, d.nowText) : std::nullopt;
  // Paragraphs of an edited system message move up or down with each insertion.
  if (shared && !shared->keepsBorder && !shared->isReordered && isSystemSection(d)) return false;
  const bool isShared = shared && (shared->hasMoved || shared->isReordered) && d.repeatedTokens > 0 &&
                        shared->onlyNow + shared->onlyBefore > 0;
  // An edited message repeats most of itself, which is another cause.
  const bool isNewText = !d.isSameConversation || d.isAtEnd || d.change == Difference::Change::Inserted;
  if (!isShared && !(isNewText && d.repeatedTokens >= kLeastTokens)) return false;
  finding.detail = std::to_string(d.repeatedTokens) + " tokens that earlier requests also have";
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

}  // namespace

std::optional<std::string> reordered(std::string_view before, std::string_view now) {
  const auto shared = sharedDocuments(before, now);
  if (!shared) return {};
  const auto one = chunksOf(before, shared->border, shared->keepsBorder);
  const auto other = chunksOf(now, shared->border, shared->keepsBorder);
  std::vector<bool> isTaken(other.size());
  // The documents change places, the text between two places stays.
  const auto textBetween = [&](std::size_t next) {
    const char* const begin = other[next - 1].data() + other[next - 1].size();
    return std::string_view(begin, static_cast<std::size_t>(other[next].data() - begin));
  };
  std::string text(now.substr(0, static_cast<std::size_t>(other.front().data() - now.data())));
  std::size_t added = 0;
  const auto add = [&](std::string_view chunk) {
    if (added > 0) text += textBetween(added);
    text += chunk;
    ++added;
  };
  // A text before the documents stays there.
  const auto isShared = [&](std::string_view chunk) {
    return chunk.size() >= kLeastDocument && std::ranges::any_of(one, [&](std::string_view document) {
             return withoutNumber(document) == withoutNumber(chunk);
           });
  };
  for (std::size_t i = 0; i < other.size() && !isShared(other[i]); ++i) {
    isTaken[i] = true;
    add(other[i]);
  }
  for (const std::string_view chunk : one) {
    if (chunk.size() < kLeastDocument) continue;
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (isTaken[i] || withoutNumber(other[i]) != withoutNumber(chunk)) continue;
      isTaken[i] = true;
      add(chunk);
      break;
    }
  }
  for (std::size_t i = 0; i < other.size(); ++i)
    if (!isTaken[i]) add(other[i]);
  return text + std::string(now.substr(
                    static_cast<std::size_t>(other.back().data() + other.back().size() - now.data())));
}

Cause documentOrderCause() {
  return {.id = CauseId::DocumentOrder,
          .key = "document_order",
          .name = forTranslation("Causes", "document order"),
          .sentence = forTranslation("Causes", "The same documents have another order."),
          .example = "A, B, C → B, A, C",
          .cure = forTranslation("Causes", "Keep the order of the documents, or make each document a span."),
          .isEdit = true,
          .matches = isDocumentOrder,
          .explains = nullptr};
}

Cause documentElsewhereCause() {
  return {
      .id = CauseId::DocumentElsewhere,
      .key = "document_elsewhere",
      .name = forTranslation("Causes", "document moved"),
      .sentence =
          forTranslation("Causes", "The prompt has a document of an earlier prompt at another place."),
      .example = "A, B → C, A",
      .cure = forTranslation("Causes", "Put the documents under a plus, so that each document is a span."),
      .isEdit = false,
      .matches = isDocumentElsewhere,
      .explains = nullptr};
}

}  // namespace spanscope::doctor
