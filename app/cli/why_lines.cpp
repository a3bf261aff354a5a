// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/why_lines.h"

#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/trace/miss_reasons.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace spanscope::cli {
namespace {

using cache::Change;
using cache::WhatIf;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 6;  // tokens in a row

class Teller {
 public:
  Teller(const run::StepPrediction& step, const text::Tokenizer& tokenizer)
      : m_step(step), m_tokenizer(tokenizer) {}

  std::string table() const {
    TextTable table({{"segment"},
                     {"blocks"},
                     {"computed"},
                     {"why", TextTable::Align::Left},
                     {"what would make hits of them", TextTable::Align::Left}});
    bool isEmpty = true;
    for (std::size_t i = 0; i < m_step.blocks.size();) {
      const trace::BlockLookedUp& first = m_step.blocks[i];
      if (first.tokens == first.wanted) {
        ++i;
        continue;
      }
      const std::string why = causeOf(first);
      const std::string change = changesOf(i);
      std::int32_t computed = 0;
      std::size_t end = i;
      for (; end < m_step.blocks.size(); ++end) {
        const trace::BlockLookedUp& block = m_step.blocks[end];
        if (block.segment != first.segment || block.tokens == block.wanted || causeOf(block) != why ||
            changesOf(end) != change)
          break;
        computed += block.wanted - block.tokens;
      }
      const std::int32_t last = m_step.blocks[end - 1].virtualIndex;
      std::string blocks = std::to_string(first.virtualIndex);
      if (last > first.virtualIndex) blocks += "–" + std::to_string(last);
      table.addRow({std::to_string(first.segment), blocks, std::to_string(computed), why, change});
      isEmpty = false;
      i = end;
    }
    return isEmpty ? std::string() : table.text();
  }

 private:
  std::span<const TokenId> tokensOf(std::uint32_t segment) const {
    return m_step.table.segments[segment].tokens;
  }
  std::string causeOf(const trace::BlockLookedUp& block) const {
    std::string reason = trace::listedName(block.reason);
    if (block.reason == trace::MissReason::TokensDiffer)
      reason += " from token " + std::to_string(block.differsAt) + " on";
    const std::vector<std::uint32_t>& sees = m_step.table.segments[block.segment].sees;
    if (block.contextDiffersAt >= 0 && static_cast<std::size_t>(block.contextDiffersAt) < sees.size())
      reason +=
          " from segment " + std::to_string(sees[static_cast<std::size_t>(block.contextDiffersAt)]) + " on";
    if (block.tokens > 0) reason += ", " + std::to_string(block.tokens) + " found";
    return reason;
  }

  /// The least change, and a larger pool beside it; asking again where nothing else would do.
  std::string changesOf(std::size_t index) const {
    std::string text;
    for (const WhatIf& change : m_step.whatIf[index]) {
      if (change.change == Change::Again && !text.empty()) continue;
      text += (text.empty() ? "" : "; or ") + textOf(m_step.blocks[index], change);
    }
    return text;
  }

  /// "/g/input/cross/1 (tokens 13–30)", or the first and the last of several.
  std::string messagesIn(std::uint32_t segment, const WhatIf& change) const {
    const std::int32_t end = change.begin + change.count;
    NodePath first;
    NodePath last;
    std::int32_t at = 0;
    for (const layout::TokenRun& run : m_step.table.segments[segment].runs) {
      if (at <= change.begin && change.begin < at + run.count) first = run.node;
      if (at < end && end <= at + run.count) last = run.node;
      at += run.count;
    }
    return first + (last == first ? std::string() : " to " + last) + " (tokens " +
           std::to_string(change.begin) + "–" + std::to_string(end - 1) + ")";
  }

  std::string storedAs(const WhatIf& change) const {
    const auto found = m_step.servedBy.find(change.block);
    if (found == m_step.servedBy.end()) return "in the cache";
    const std::string node = found->second.node.empty() ? "the root" : found->second.node;
    return "as " + node + " of query " + std::to_string(found->second.run);
  }

  std::string shown(std::span<const TokenId> tokens) const {
    std::string text;
    for (std::size_t i = 0; i < tokens.size() && i < kMostShown; ++i)
      text += run::isUnknown(tokens[i]) ? std::string("?") : m_tokenizer.display(tokens[i]);
    if (tokens.size() > kMostShown) text += "…";
    return "“" + text + "”";
  }

  std::string textOf(const trace::BlockLookedUp& block, const WhatIf& change) const {
    switch (change.change) {
      case Change::AlwaysComputed:
        return "nothing: the last token is always computed";
      case Change::CacheOn:
        return "blocks that are not full kept in the cache too";
      case Change::OtherTokens: {
        const std::span<const TokenId> own =
            tokensOf(block.segment).subspan(static_cast<std::size_t>(change.begin), change.stored.size());
        return shown(change.stored) + " in place of " + shown(own);
      }
      case Change::OwnSpan: {
        const std::string count = change.cached == change.count ? counted(change.count, "token")
                                                                : std::to_string(change.cached) + " of " +
                                                                      counted(change.count, "token");
        return messagesIn(block.segment, change) + " under a plus, with policy spans: " + count + " cached " +
               storedAs(change);
      }
      case Change::SameContext:
        return "seeing the same, in the same order, as when it was cached " + storedAs(change);
      case Change::FindEarlier:
        return "block " + std::to_string(change.earlier) + " found: this one is cached " + storedAs(change);
      case Change::LargerPool:
        return "--blocks " + std::to_string(change.blockCount);
      case Change::Again:
        return "asking for the same again";
    }
    return {};
  }

  const run::StepPrediction& m_step;
  const text::Tokenizer& m_tokenizer;
};

}  // namespace

std::string whyTable(const run::StepPrediction& step, const text::Tokenizer& tokenizer) {
  return Teller(step, tokenizer).table();
}

Json changesJson(const run::StepPrediction& step, const std::vector<WhatIf>& changes) {
  Json list = Json::array();
  for (const WhatIf& change : changes) {
    Json entry{{"change", cache::changeName(change.change)}, {"found", change.found}};
    if (change.change == Change::OtherTokens || change.change == Change::OwnSpan)
      entry["begin"] = change.begin;
    if (change.change == Change::OtherTokens) entry["tokens"] = change.stored;
    if (change.change == Change::OwnSpan) {
      entry["count"] = change.count;
      entry["cached"] = change.cached;
    }
    if (change.change == Change::FindEarlier) entry["earlier"] = change.earlier;
    if (change.change == Change::LargerPool) entry["blocks"] = change.blockCount;
    const auto stored = step.servedBy.find(change.block);
    if (stored != step.servedBy.end())
      entry["stored_by"] = {{"run", stored->second.run}, {"node", stored->second.node}};
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace spanscope::cli
