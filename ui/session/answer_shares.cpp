// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/answer_shares.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

using trace::PartAttention;
using trace::PartRole;
using trace::PromptParts;
using trace::SegmentAttention;

/// Means over layers and heads, by section of the prompt.
std::vector<float> meanOf(const PartAttention& row, const std::vector<float>& values, std::size_t parts) {
  std::vector<double> sums(parts, 0.0);
  const std::size_t width = row.keyParts.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t part = row.keyParts[i % width];
    if (part < parts) sums[part] += static_cast<double>(values[i]);
  }
  const double rows = std::max(1.0, static_cast<double>(row.layers.size()) * row.heads);
  std::vector<float> means;
  for (const double sum : sums) means.push_back(static_cast<float>(sum / rows));
  return means;
}

/// Converts means by segment to means by section. In traces with values by segment only, each segment has one
/// section.
std::vector<float> byPart(const std::vector<float>& bySegment, const PromptParts& parts) {
  std::vector<float> joined(parts.size(), 0.0F);
  std::optional<std::uint32_t> last;
  for (const trace::PartRange& range : parts.visible()) {
    if (std::exchange(last, range.segment) != range.segment && range.segment < bySegment.size())
      joined[range.part] += bySegment[range.segment];
  }
  return joined;
}

/// The attention on sources, for traces without values by head.
std::vector<double> readOf(const PromptParts& parts, const TokenShares& token) {
  std::vector<double> read(parts.size(), 0.0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.role(i) == PartRole::Source) read[i] = static_cast<double>(token.mass[i]);
  }
  return read;
}

/// The attention of the token positions from which the answer's tokens were sampled, by index of the token.
class AnswerRows {
 public:
  AnswerRows(const ViewInput& input, const RequestEvents& events, const PromptParts& parts) : m_parts(parts) {
    for (const std::size_t index : events.of<PartAttention>()) {
      if (index >= input.position) break;
      const auto& row = std::get<PartAttention>(input.trace->event(index).payload);
      if (!row.mass.empty()) m_byPart[row.index] = &row;
    }
    // If each segment has one section, the trace has values by segment only.
    for (const std::size_t index : events.of<SegmentAttention>()) {
      if (!m_byPart.empty() || index >= input.position) break;
      const auto& row = std::get<SegmentAttention>(input.trace->event(index).payload);
      if (row.index >= 0 && !row.mass.empty()) m_bySegment[row.index] = &row;
    }
  }

  std::optional<PartAttention> at(std::int32_t index) const {
    if (const auto found = m_byPart.find(index); found != m_byPart.end()) return *found->second;
    if (const auto found = m_bySegment.find(index); found != m_bySegment.end())
      return trace::byPart(*found->second, m_parts);
    return std::nullopt;
  }
  std::vector<std::int32_t> indices() const {
    std::vector<std::int32_t> all;
    for (const auto& [index, row] : m_byPart) all.push_back(index);
    for (const auto& [index, row] : m_bySegment) all.push_back(index);
    return all;
  }

 private:
  const PromptParts& m_parts;
  std::map<std::int32_t, const PartAttention*> m_byPart;
  std::map<std::int32_t, const SegmentAttention*> m_bySegment;
};

void addUp(AnswerShares& shares) {
  const std::size_t count = shares.parts.size();
  const auto tokens = static_cast<double>(std::max<std::size_t>(1, shares.tokens.size()));
  shares.mass.assign(count, 0.0);
  shares.beside = 0;
  std::vector<double> first(count, 0.0);
  std::vector<double> read(count, 0.0);
  bool hasFirst = !shares.tokens.empty();
  for (const TokenShares& token : shares.tokens) {
    hasFirst = hasFirst && !token.first.empty();
    const std::vector<double> own = readOf(shares.parts, token);
    for (std::size_t i = 0; i < count; ++i) {
      shares.mass[i] += static_cast<double>(token.mass[i]) / tokens;
      if (!token.first.empty()) first[i] += static_cast<double>(token.first[i]) / tokens;
      read[i] += own[i];
    }
    shares.beside += static_cast<double>(token.beside) / tokens;
  }
  if (hasFirst) shares.first = std::move(first);
  shares.shares = trace::normalised(std::move(read));
}

}  // namespace

bool AnswerShares::hasSources() const {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (isSource(part)) return true;
  }
  return false;
}

double AnswerShares::share(std::size_t part) const {
  return !isEmpty() && isSource(part) ? shares[part] : -1;
}

double AnswerShares::share(std::size_t part, std::size_t token) const {
  return token < tokens.size() && isSource(part) ? tokens[token].shares[part] : -1;
}

double AnswerShares::onFirst(std::size_t part) const {
  return part < first.size() ? first[part] : 0;
}

double AnswerShares::onFirst(std::size_t part, std::size_t token) const {
  const std::vector<float>& firsts = tokens[token].first;
  return part < firsts.size() ? static_cast<double>(firsts[part]) : 0;
}

double AnswerShares::onPart(std::size_t part) const {
  return std::max(0.0, mass[part] - onFirst(part));
}

double AnswerShares::onPart(std::size_t part, std::size_t token) const {
  return std::max(0.0, static_cast<double>(tokens[token].mass[part]) - onFirst(part, token));
}

double AnswerShares::onSources(std::size_t token) const {
  double sum = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (isSource(part)) sum += onPart(part, token);
  }
  return sum;
}

std::shared_ptr<const AnswerShares> answerShares(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  const RequestEvents* events = input.trace->request(request);
  if (found == requests.end() || events == nullptr || found->second.segments.empty())
    return std::make_shared<const AnswerShares>();
  const std::vector<std::size_t>& tokens = events->of<trace::TokenGenerated>();
  const auto end = std::lower_bound(tokens.begin(), tokens.end(), input.position);
  const auto seen = static_cast<std::size_t>(end - tokens.begin());
  // Several views request the same result one after the other.
  std::shared_ptr<const AnswerShares>& memo = input.trace->answerSharesMemo();
  if (memo && memo->request == request && memo->seen == seen) return memo;

  const std::vector<trace::SegmentInfo>& segments = found->second.segments;
  auto result = std::make_shared<AnswerShares>();
  result->request = request;
  result->run = found->second.run;
  result->parts = promptParts(input, request);
  result->seen = seen;
  if (memo && memo->request == request && memo->seen < seen) result->tokens = memo->tokens;
  const AnswerRows rows(input, *events, result->parts);
  std::map<std::int32_t, float> beside;
  for (const std::size_t index : events->of<trace::TeammateAttention>()) {
    if (index >= input.position) break;
    const auto& others = std::get<trace::TeammateAttention>(input.trace->event(index).payload);
    beside[others.index] = std::accumulate(others.mass.begin(), others.mass.end(), 0.0F);
  }
  for (auto index = tokens.begin(); index != end; ++index) {
    const auto* token = std::get_if<trace::TokenGenerated>(&input.trace->event(*index).payload);
    const bool isThere = !result->tokens.empty() && *index <= result->tokens.back().event;
    if (token == nullptr || isThere) continue;
    TokenShares shares{
        .index = token->index, .event = *index, .mass = {}, .first = {}, .shares = {}, .reads = {}};
    if (const auto others = beside.find(token->index); others != beside.end()) shares.beside = others->second;
    if (const auto row = rows.at(token->index)) {
      shares.mass = meanOf(*row, row->mass, result->parts.size());
      shares.first = meanOf(*row, row->first, result->parts.size());
      shares.reads = trace::sourceReads(result->parts, *row);
      shares.shares = trace::normalised(shares.reads);
    } else if (token->segmentMass.size() == segments.size()) {
      shares.mass = byPart(token->segmentMass, result->parts);
      shares.shares = trace::normalised(readOf(result->parts, shares));
    } else {
      continue;
    }
    result->tokens.push_back(std::move(shares));
  }
  addUp(*result);
  std::vector<double> reads(result->parts.size(), 0.0);
  for (const TokenShares& token : result->tokens) {
    if (token.reads.empty()) continue;
    result->ofSquares = true;
    std::transform(reads.begin(), reads.end(), token.reads.begin(), reads.begin(), std::plus<>());
  }
  if (result->ofSquares) result->shares = trace::normalised(std::move(reads));
  memo = result;
  return result;
}

std::map<std::int32_t, PartAttention> partRows(const ViewInput& input, const RequestEvents& events,
                                               const PromptParts& parts) {
  const AnswerRows rows(input, events, parts);
  std::map<std::int32_t, PartAttention> all;
  for (const std::int32_t index : rows.indices()) all.emplace(index, *rows.at(index));
  return all;
}

std::optional<std::uint32_t> selectedSource(const ViewInput& input, const AnswerShares& shares) {
  const Selection& selection = input.selection;
  const auto source = [&](std::optional<std::uint32_t> part) {
    return part && shares.isSource(*part) ? part : std::nullopt;
  };
  if (selection.token && selection.token->request == shares.request)
    return source(shares.parts.partAt(selection.token->segment, selection.token->local));
  if (selection.block && selection.block->request == shares.request) {
    const std::int32_t size = std::max(1, input.state().pool().blockSize());
    return source(shares.parts.partAt(selection.block->segment, selection.block->virtualIndex * size));
  }
  const document::NodeId node = selection.currentNode();
  const auto found = input.state().progress().requests.find(shares.request);
  if (node == document::kNoNode || found == input.state().progress().requests.end()) return std::nullopt;
  for (std::size_t part = 0; part < shares.parts.size(); ++part) {
    if (input.nodeOf(shares.run, shares.parts.info(part).node) != node) continue;
    if (const auto result = source(static_cast<std::uint32_t>(part))) return result;
  }
  // The node may be a message in a section with several messages.
  for (std::uint32_t i = 0; i < found->second.segments.size(); ++i) {
    std::int32_t begin = 0;
    for (const trace::TokenRunInfo& run : found->second.segments[i].runs) {
      const auto part = shares.parts.partAt(i, begin);
      begin += run.count;
      if (input.nodeOf(shares.run, run.node) != node) continue;
      if (const auto result = source(part)) return result;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> selectedAnswerToken(const ViewInput& input, const AnswerShares& shares) {
  const std::optional<TokenRef>& token = input.selection.token;
  if (!token || token->request != shares.request) return std::nullopt;
  const auto& segments = input.state().progress().requests.at(shares.request).segments;
  if (token->segment + 1 != segments.size()) return std::nullopt;
  const trace::SegmentInfo& own = segments[token->segment];
  const std::int32_t index = token->local - static_cast<std::int32_t>(own.tokens.size());
  for (std::size_t i = 0; i < shares.tokens.size(); ++i) {
    if (shares.tokens[i].index == index) return i;
  }
  return std::nullopt;
}

}  // namespace spanscope::ui
