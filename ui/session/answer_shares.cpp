// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/answer_shares.h"

#include "engine/trace/source_shares.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <variant>

namespace spanscope::ui {
namespace {

using trace::SegmentAttention;

std::vector<SourceKind> kindsOf(std::span<const trace::SegmentInfo> segments) {
  std::vector<SourceKind> kinds;
  const std::vector<bool> sources = trace::sourceSegments(segments);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    kinds.push_back(segments[i].hidden ? SourceKind::Hidden
                    : sources[i]       ? SourceKind::Source
                                       : SourceKind::Context);
  }
  if (!kinds.empty()) kinds.back() = SourceKind::Own;
  return kinds;
}

/// Means over layers and heads, by segment.
std::vector<float> meanOf(const SegmentAttention& row, const std::vector<float>& values,
                          std::size_t segments) {
  std::vector<double> sums(segments, 0.0);
  const std::size_t width = row.keySegments.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t segment = row.keySegments[i % width];
    if (segment < segments) sums[segment] += static_cast<double>(values[i]);
  }
  const double rows = std::max(1.0, static_cast<double>(row.layers.size()) * row.heads);
  std::vector<float> means;
  for (const double sum : sums) means.push_back(static_cast<float>(sum / rows));
  return means;
}

/// Of traces that know no heads: the mass on sources.
std::vector<double> readOf(const std::vector<SourceKind>& kinds, const TokenShares& token) {
  std::vector<double> read(kinds.size(), 0.0);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == SourceKind::Source) read[i] = static_cast<double>(token.mass[i]);
  }
  return read;
}

std::vector<double> normalised(std::vector<double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value = sum > 0 ? value / sum : 0;
  return values;
}

void addUp(AnswerShares& shares) {
  const std::size_t count = shares.kinds.size();
  const auto tokens = static_cast<double>(std::max<std::size_t>(1, shares.tokens.size()));
  shares.mass.assign(count, 0.0);
  shares.beside = 0;
  std::vector<double> first(count, 0.0);
  std::vector<double> read(count, 0.0);
  bool hasFirst = !shares.tokens.empty();
  for (const TokenShares& token : shares.tokens) {
    hasFirst = hasFirst && !token.first.empty();
    const std::vector<double> own = readOf(shares.kinds, token);
    for (std::size_t i = 0; i < count; ++i) {
      shares.mass[i] += static_cast<double>(token.mass[i]) / tokens;
      if (!token.first.empty()) first[i] += static_cast<double>(token.first[i]) / tokens;
      read[i] += own[i];
    }
    shares.beside += static_cast<double>(token.beside) / tokens;
  }
  if (hasFirst) shares.first = std::move(first);
  shares.shares = normalised(std::move(read));
}

}  // namespace

bool AnswerShares::hasSources() const {
  return std::find(kinds.begin(), kinds.end(), SourceKind::Source) != kinds.end();
}

double AnswerShares::share(std::size_t segment) const {
  const bool known = !isEmpty() && segment < kinds.size() && kinds[segment] == SourceKind::Source;
  return known ? shares[segment] : -1;
}

double AnswerShares::share(std::size_t segment, std::size_t token) const {
  const bool known = token < tokens.size() && segment < kinds.size() && kinds[segment] == SourceKind::Source;
  return known ? tokens[token].shares[segment] : -1;
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
  // Several views ask for the same in turn.
  std::shared_ptr<const AnswerShares>& memo = input.trace->answerSharesMemo();
  if (memo && memo->request == request && memo->seen == seen) return memo;

  const std::vector<trace::SegmentInfo>& segments = found->second.segments;
  auto result = std::make_shared<AnswerShares>();
  result->request = request;
  result->run = found->second.run;
  result->kinds = kindsOf(segments);
  result->seen = seen;
  if (memo && memo->request == request && memo->seen < seen) result->tokens = memo->tokens;
  std::map<std::int32_t, const SegmentAttention*> rows;
  for (const std::size_t index : events->of<trace::SegmentAttention>()) {
    if (index >= input.position) break;
    const auto& row = std::get<SegmentAttention>(input.trace->event(index).payload);
    if (row.index >= 0 && !row.mass.empty()) rows[row.index] = &row;
  }
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
    TokenShares shares{.index = token->index, .event = *index, .mass = {}, .first = {}, .shares = {}};
    if (const auto others = beside.find(token->index); others != beside.end()) shares.beside = others->second;
    const auto row = rows.find(token->index);
    if (row != rows.end()) {
      shares.mass = meanOf(*row->second, row->second->mass, segments.size());
      shares.first = meanOf(*row->second, row->second->first, segments.size());
      shares.shares = trace::sourceShares(segments, {&row->second, 1});
    } else if (token->segmentMass.size() == segments.size()) {
      shares.mass = token->segmentMass;
      shares.shares = normalised(readOf(result->kinds, shares));
    } else {
      continue;
    }
    result->tokens.push_back(std::move(shares));
  }
  addUp(*result);
  std::vector<const SegmentAttention*> read;
  for (const TokenShares& token : result->tokens) {
    const auto row = rows.find(token.index);
    if (row != rows.end()) read.push_back(row->second);
  }
  result->ofSquares = !read.empty();
  if (result->ofSquares) result->shares = trace::sourceShares(segments, read);
  memo = result;
  return result;
}

std::optional<std::uint32_t> selectedSource(const ViewInput& input, const AnswerShares& shares) {
  const Selection& selection = input.selection;
  const auto source = [&](std::uint32_t segment) {
    return segment < shares.kinds.size() && shares.kinds[segment] == SourceKind::Source
               ? std::optional<std::uint32_t>(segment)
               : std::nullopt;
  };
  if (selection.token && selection.token->request == shares.request) return source(selection.token->segment);
  if (selection.block && selection.block->request == shares.request) return source(selection.block->segment);
  const document::NodeId node = selection.currentNode();
  const auto found = input.state().progress().requests.find(shares.request);
  if (node == document::kNoNode || found == input.state().progress().requests.end()) return std::nullopt;
  for (std::size_t i = 0; i < found->second.segments.size(); ++i) {
    const trace::SegmentInfo& segment = found->second.segments[i];
    const auto isNode = [&](const NodePath& path) { return input.nodeOf(shares.run, path) == node; };
    const bool holds =
        isNode(segment.node) || std::any_of(segment.runs.begin(), segment.runs.end(),
                                            [&](const trace::TokenRunInfo& run) { return isNode(run.node); });
    if (!holds) continue;
    if (const auto result = source(static_cast<std::uint32_t>(i))) return result;
  }
  return std::nullopt;
}

std::optional<std::size_t> selectedAnswerToken(const ViewInput& input, const AnswerShares& shares) {
  const std::optional<TokenRef>& token = input.selection.token;
  if (!token || token->request != shares.request || token->segment + 1 != shares.kinds.size())
    return std::nullopt;
  const trace::SegmentInfo& own =
      input.state().progress().requests.at(shares.request).segments[token->segment];
  const std::int32_t index = token->local - static_cast<std::int32_t>(own.tokens.size());
  for (std::size_t i = 0; i < shares.tokens.size(); ++i) {
    if (shares.tokens[i].index == index) return i;
  }
  return std::nullopt;
}

}  // namespace spanscope::ui
