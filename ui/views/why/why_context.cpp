// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/why/why_context.h"

#include "engine/remote/chat/server_facts.h"
#include "ui/session/token_account.h"
#include "ui/views/common/layout_marks.h"
#include "ui/views/common/marker_tokens.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

const trace::RequestState* findRequest(const trace::Replay& state, RequestId id) {
  const auto& requests = state.progress().requests;
  const auto found = requests.find(id);
  return found == requests.end() ? nullptr : &found->second;
}

QString oneLine(const std::string& text) {
  QString line = tokenInLine(text);
  line.replace(QChar(0x2581), QLatin1Char(' '));
  line.replace(QLatin1Char('\n'), QChar(0x23CE));
  return line;
}

/// The place at which a content was stored.
struct StoredPlace {
  std::int64_t base = 0;
  std::int32_t virtualIndex = 0;
  RequestId storedByRequest = 0;
  NodePath storedByNode;
};

std::optional<BlockRef> placeIn(const trace::Replay& state, const StoredPlace& stored) {
  const trace::RequestState* by = findRequest(state, stored.storedByRequest);
  if (by == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < by->segments.size(); ++i) {
    const BlockRef place{stored.storedByRequest, static_cast<std::uint32_t>(i), stored.virtualIndex};
    if (by->segments[i].node != stored.storedByNode || by->segments[i].base != stored.base) continue;
    if (by->blocks.contains({place.segment, place.virtualIndex})) return place;
  }
  return std::nullopt;
}

/// The number of tokens of a block that the policy recomputes.
std::int32_t recomputedIn(const ViewInput& input, const VirtualBlockFacts& block) {
  const std::vector<std::int32_t> again =
      RequestAccount(input, block.place.request).again(block.place.segment);
  const std::int32_t begin = block.place.virtualIndex * std::max(1, input.state().pool().blockSize());
  return static_cast<std::int32_t>(std::ranges::lower_bound(again, begin + block.prompt) -
                                   std::ranges::lower_bound(again, begin));
}

}  // namespace

WhyContext::WhyContext(const ViewInput& ownInput, const BlockHistory& ownHistory, const BlockRef& place,
                       WhyChanges ownChanges)
    : input(ownInput), history(ownHistory), changes(std::move(ownChanges)), state(ownInput.state()) {
  request = findRequest(state, place.request);
  if (request == nullptr) return;
  blocks = requestBlocks(*input.trace, state, place.request);
  facts = blocks.find(place);
  if (facts == nullptr) return;
  segment = &request->segments[place.segment];
  names = segmentNames(input, place.request);
  parts = requestParts(input, place.request);
  lookup = lookupEvent(*input.trace, facts->lookup);
  if (lookup != nullptr && lookup->tokens > 0) recomputed = recomputedIn(input, *facts);
  if (lookup != nullptr) lookupIndex = input.trace->indexOf(facts->lookup).value_or(0);
}

QString WhyContext::segmentName() const {
  const std::int32_t begin = firstToken();
  const bool isSplit = names[facts->place.segment].hidden || names[facts->place.segment].linked;
  if (isSplit) return names[facts->place.segment].name;
  return parts.nameOf(facts->place.segment, begin, begin + std::max(1, facts->prompt));
}

bool WhyContext::hasSlots() const {
  const auto& runs = state.progress().runs;
  const auto run = runs.find(request->run);
  return run != runs.end() &&
         run->second.policy.starts_with(remote::infoOf(remote::ServerKind::LlamaCpp).title);
}

bool WhyContext::holdsLastToken() const {
  return facts->place.segment + 1 == request->segments.size() &&
         firstToken() + facts->prompt == static_cast<std::int32_t>(segment->tokens.size());
}

QString WhyContext::tokensText(std::int32_t begin, std::int32_t end) const {
  QString text;
  const auto prompt = static_cast<std::int32_t>(segment->tokens.size());
  const LayoutMarks marks = layoutMarks(input, facts->place.request);
  for (std::int32_t i = std::max(0, begin); i < std::min(end, prompt); ++i) {
    if (const auto role = marks.roleOf(facts->place.segment, i)) {
      text += roleText(*role);
      continue;
    }
    const auto index = static_cast<std::size_t>(i);
    text += index < segment->texts.size() ? oneLine(segment->texts[index])
                                          : QStringLiteral("#%1 ").arg(segment->tokens[index]);
  }
  if (end > prompt) {
    const std::vector<GeneratedToken> generated =
        generatedTokens(*input.trace, facts->place.request, input.position);
    for (std::int32_t i = std::max(begin, prompt); i < end; ++i) {
      const auto index = static_cast<std::size_t>(i - prompt);
      if (index < generated.size()) text += oneLine(generated[index].token->shown);
    }
  }
  return text.trimmed();
}

QString WhyContext::tokenText(TokenId token) const {
  if (token < 0) return {};
  const auto quoted = [](const QString& text) { return QStringLiteral("“%1”").arg(text); };
  if (input.tokenizer && token < input.tokenizer->vocabularySize())
    return quoted(oneLine(input.tokenizer->display(token)));
  // Without a model, the trace may still have the token's text.
  for (const auto& [id, own] : state.progress().requests) {
    for (const trace::SegmentInfo& info : own.segments) {
      const auto found = std::find(info.tokens.begin(), info.tokens.end(), token);
      const auto index = static_cast<std::size_t>(found - info.tokens.begin());
      if (found != info.tokens.end() && index < info.texts.size()) return quoted(oneLine(info.texts[index]));
    }
  }
  return tr("token %1").arg(token);
}

std::vector<TokenId> WhyContext::storedTokens() const {
  if (lookup == nullptr || lookup->block == kNullBlock) return {};
  const auto stored = history.storedAt(lookup->block, lookupIndex);
  if (!stored) return {};
  const auto* event = std::get_if<trace::BlockStored>(&input.trace->event(*stored).payload);
  return event == nullptr ? std::vector<TokenId>{} : event->tokens;
}

std::optional<BlockRef> WhyContext::storedPlace() const {
  return placeIn(state, {.base = lookup->storedBase,
                         .virtualIndex = lookup->virtualIndex,
                         .storedByRequest = lookup->storedByRequest,
                         .storedByNode = lookup->storedByNode});
}

std::int32_t WhyContext::differingToken() const {
  return lookup == nullptr ? firstToken() : std::max(firstToken(), lookup->differsAt);
}

document::NodeId WhyContext::storedNode() const {
  const std::optional<BlockRef> place = storedPlace();
  if (!place || lookup->differsAt < 0) return document::kNoNode;
  const trace::RequestState* by = findRequest(state, place->request);
  if (by == nullptr) return document::kNoNode;
  const std::int32_t token = place->virtualIndex * blocks.blockSize + differingToken() - firstToken();
  return input.nodeOf(by->run, nodeOfToken(*by, place->segment, token));
}

QString WhyContext::storedName() const {
  const std::optional<BlockRef> place = storedPlace();
  if (!place) return {};
  const std::int32_t token = place->virtualIndex * blocks.blockSize + differingToken() - firstToken();
  return requestParts(input, place->request).nameOf(place->segment, token, token + 1);
}

const cache::WhatIf* WhyContext::change(cache::Change kind) const {
  const auto found = std::find_if(changes.changes.begin(), changes.changes.end(),
                                  [kind](const cache::WhatIf& one) { return one.change == kind; });
  return found == changes.changes.end() ? nullptr : &*found;
}

std::optional<BlockRef> WhyContext::placeOfStored(BlockId block) const {
  const auto found = changes.stored.find(block);
  if (found == changes.stored.end()) return std::nullopt;
  return placeIn(state, {.base = found->second.base,
                         .virtualIndex = found->second.virtualIndex,
                         .storedByRequest = found->second.storedByRequest,
                         .storedByNode = found->second.storedByNode});
}

QString WhyContext::nameOfBlock(const BlockRef& place) const {
  const std::int32_t begin = place.virtualIndex * blocks.blockSize;
  return requestParts(input, place.request).nameOf(place.segment, begin, begin + blocks.blockSize);
}

QString WhyContext::storedIn(BlockId block) const {
  const auto found = changes.stored.find(block);
  if (found == changes.stored.end()) return tr("#%1").arg(block);
  const trace::BlockState& stored = found->second;
  QString text = requestName(state, stored.storedByRequest) + QStringLiteral(", ");
  const trace::RequestState* by = findRequest(state, stored.storedByRequest);
  const std::optional<BlockRef> place = placeOfStored(block);
  if (by != nullptr && place) return text + nameOfBlock(*place);
  return text + nodeName(input, stored.storedByRun, stored.storedByNode);
}

QString WhyContext::storedBy() const {
  QString text = requestName(state, lookup->storedByRequest);
  const trace::RequestState* by = findRequest(state, lookup->storedByRequest);
  const std::optional<BlockRef> place = storedPlace();
  if (by != nullptr && place) {
    text += QStringLiteral(", ") + nameOfBlock(*place);
  } else {
    text += QStringLiteral(", ") + nodeName(input, lookup->storedByRun, lookup->storedByNode);
  }
  return text;
}

document::NodeId WhyContext::node() const {
  return nodeAt(firstToken());
}

document::NodeId WhyContext::nodeAt(std::int32_t token) const {
  return input.nodeOf(request->run, nodeOfToken(*request, facts->place.segment, token));
}

document::NodeId WhyContext::parentJoin(query::JoinKind kind) const {
  const document::NodeId own =
      kind == query::JoinKind::Plus ? input.nodeOf(request->run, segment->node) : node();
  const document::DocumentNode* child = input.document->find(own);
  if (child == nullptr) return document::kNoNode;
  const document::DocumentNode* parent = input.document->find(child->parent);
  const query::Join* join = parent == nullptr ? nullptr : parent->own.as<query::Join>();
  return join != nullptr && join->kind == kind ? child->parent : document::kNoNode;
}

bool WhyContext::isChildOfPlus() const {
  const document::NodeId own = nodeAt(differingToken());
  for (document::NodeId id = own; id != document::kNoNode;) {
    const document::DocumentNode* at = input.document->find(id);
    if (at == nullptr) return false;
    const query::Join* join = at->own.as<query::Join>();
    if (join != nullptr && join->kind == query::JoinKind::Plus && id != own) return true;
    id = at->parent;
  }
  return false;
}

std::optional<std::size_t> WhyContext::lostAt() const {
  if (facts->physical == kNullBlock) return std::nullopt;
  return history.lostAt(facts->physical, facts->place.request, input.position);
}

bool WhyContext::present() const {
  const auto& pool = state.pool().blocks();
  const auto index = static_cast<std::size_t>(facts->physical);
  return facts->physical != kNullBlock && index < pool.size() && pool[index].cached && !lostAt();
}

const VirtualBlockFacts* WhyContext::firstMissed() const {
  for (const VirtualBlockFacts& block : blocks.segments[facts->place.segment].blocks) {
    if (block.place.virtualIndex >= facts->place.virtualIndex) break;
    if (block.outcome == trace::LookupOutcome::Miss || block.outcome == trace::LookupOutcome::Partial)
      return &block;
  }
  return nullptr;
}

QString timeText(std::int64_t nanoseconds) {
  const double milliseconds = double(nanoseconds) / 1e6;
  if (milliseconds >= 1000) return tr("%1 s").arg(milliseconds / 1000, 0, 'f', 3);
  return tr("%1 ms").arg(milliseconds, 0, 'f', 1);
}

}  // namespace spanscope::ui
