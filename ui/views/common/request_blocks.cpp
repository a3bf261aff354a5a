// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/request_blocks.h"

#include "ui/session/prompt_parts.h"
#include "ui/views/common/marker_tokens.h"

#include <algorithm>
#include <map>
#include <variant>

namespace spanscope::ui {

namespace {

BlockRole roleOf(trace::LookupOutcome outcome) {
  switch (outcome) {
    case trace::LookupOutcome::Hit:
      return BlockRole::Hit;
    case trace::LookupOutcome::Relocated:
      return BlockRole::Relocated;
    case trace::LookupOutcome::Partial:
    case trace::LookupOutcome::Miss:
      break;
  }
  return BlockRole::Computed;
}

const trace::RequestState* findRequest(const trace::Replay& state, RequestId request) {
  const auto& requests = state.progress().requests;
  const auto found = requests.find(request);
  return found == requests.end() ? nullptr : &found->second;
}

}  // namespace

const VirtualBlockFacts* RequestBlocks::find(const BlockRef& place) const {
  if (place.request != request || place.segment >= segments.size()) return nullptr;
  const auto& blocks = segments[place.segment].blocks;
  if (place.virtualIndex < 0 || static_cast<std::size_t>(place.virtualIndex) >= blocks.size()) return nullptr;
  return &blocks[static_cast<std::size_t>(place.virtualIndex)];
}

std::size_t RequestBlocks::blockCount() const {
  std::size_t count = 0;
  for (const SegmentVirtualBlocks& segment : segments) count += segment.blocks.size();
  return count;
}

const trace::BlockLookedUp* lookupEvent(const TraceStore& trace, std::uint64_t sequence) {
  if (sequence == 0) return nullptr;
  const std::optional<std::size_t> index = trace.indexOf(sequence);
  return index ? std::get_if<trace::BlockLookedUp>(&trace.event(*index).payload) : nullptr;
}

const trace::BlockLoaded* loadEvent(const TraceStore& trace, std::uint64_t sequence) {
  if (sequence == 0) return nullptr;
  const std::optional<std::size_t> index = trace.indexOf(sequence);
  return index ? std::get_if<trace::BlockLoaded>(&trace.event(*index).payload) : nullptr;
}

namespace {

/// The last load of each place, up to the state.
std::map<trace::BlockPlace, std::uint64_t> loadsOf(const TraceStore& trace, const trace::Replay& state,
                                                   RequestId request) {
  std::map<trace::BlockPlace, std::uint64_t> loads;
  const RequestEvents* events = trace.request(request);
  if (events == nullptr) return loads;
  for (const std::size_t index : events->of<trace::BlockLoaded>()) {
    const trace::Event& event = trace.event(index);
    if (event.sequence > state.progress().sequence) break;
    const auto* loaded = std::get_if<trace::BlockLoaded>(&event.payload);
    if (loaded != nullptr) loads[{loaded->segment, loaded->virtualIndex}] = event.sequence;
  }
  return loads;
}

}  // namespace

RequestBlocks requestBlocks(const TraceStore& trace, const trace::Replay& state, RequestId request) {
  RequestBlocks result;
  const trace::RequestState* own = findRequest(state, request);
  if (own == nullptr) return result;
  result.request = request;
  result.run = own->run;
  result.blockSize = std::max(1, state.pool().blockSize());
  const auto size = static_cast<std::int64_t>(result.blockSize);
  const std::map<trace::BlockPlace, std::uint64_t> loads = loadsOf(trace, state, request);

  std::int32_t number = 0;
  auto block = own->blocks.begin();
  for (std::size_t i = 0; i < own->segments.size(); ++i) {
    const trace::SegmentInfo& info = own->segments[i];
    SegmentVirtualBlocks segment{
        .segment = static_cast<std::uint32_t>(i), .hidden = info.hidden, .blocks = {}};
    const auto prompt = static_cast<std::int64_t>(info.tokens.size());
    // The last generated token has been sampled, but no forward pass has computed it yet.
    const bool grows = i + 1 == own->segments.size();
    const std::int64_t length = prompt + (grows ? std::max<std::int64_t>(0, own->generatedTokens - 1) : 0);
    const std::int64_t count = (length + size - 1) / size;
    segment.blocks.reserve(static_cast<std::size_t>(count));
    for (std::int64_t index = 0; index < count; ++index) {
      VirtualBlockFacts facts;
      facts.place = {request, segment.segment, static_cast<std::int32_t>(index)};
      facts.number = info.hidden ? -1 : number++;
      facts.prompt = static_cast<std::int32_t>(std::clamp<std::int64_t>(prompt - index * size, 0, size));
      facts.tokens = static_cast<std::int32_t>(std::clamp<std::int64_t>(length - index * size, 0, size));
      const trace::BlockPlace place{segment.segment, facts.place.virtualIndex};
      while (block != own->blocks.end() && block->first < place) ++block;
      if (block != own->blocks.end() && block->first == place) {
        const trace::VirtualBlock& state_ = block->second;
        facts.physical = state_.block;
        facts.allocated = state_.allocated;
        facts.lookup = state_.lookup;
        facts.outcome = state_.outcome;
        facts.reason = state_.reason;
        if (state_.block != kNullBlock) facts.role = roleOf(state_.outcome);
        // A resumed request has new lookups, so an older load does not count.
        const auto load = loads.find(place);
        if (load != loads.end() && load->second > state_.lookup) facts.load = load->second;
        if (const trace::BlockLookedUp* lookup = lookupEvent(trace, state_.lookup)) {
          facts.found = lookup->tokens;
          facts.foundRole = lookup->base == lookup->storedBase ? BlockRole::Hit : BlockRole::Relocated;
        }
      }
      segment.blocks.push_back(facts);
    }
    result.segments.push_back(std::move(segment));
  }
  return result;
}

std::vector<GeneratedToken> generatedTokens(const TraceStore& trace, RequestId request,
                                            std::size_t position) {
  std::vector<GeneratedToken> tokens;
  const RequestEvents* events = trace.request(request);
  if (events == nullptr) return tokens;
  for (const std::size_t index : events->of<trace::TokenGenerated>()) {
    if (index >= position) break;
    if (const auto* token = std::get_if<trace::TokenGenerated>(&trace.event(index).payload))
      tokens.push_back({token, index});
  }
  return tokens;
}

std::optional<BlockRef> placeOf(const trace::Replay& state, RequestId request, BlockId physical) {
  const trace::RequestState* own = findRequest(state, request);
  if (own == nullptr || physical == kNullBlock) return std::nullopt;
  for (const auto& [place, block] : own->blocks) {
    if (block.block == physical) return BlockRef{request, place.segment, place.virtualIndex};
  }
  return std::nullopt;
}

NodePath nodeOfToken(const trace::RequestState& request, std::uint32_t segment, std::int32_t local) {
  if (segment >= request.segments.size()) return request.node;
  const trace::SegmentInfo& info = request.segments[segment];
  std::int32_t end = 0;
  for (const trace::TokenRunInfo& run : info.runs) {
    end += run.count;
    if (local < end) return run.node.empty() ? info.node : run.node;
  }
  return local < static_cast<std::int32_t>(info.tokens.size()) ? info.node : request.node;
}

bool isMiss(const VirtualBlockFacts& block) {
  const bool isHit =
      block.outcome == trace::LookupOutcome::Hit || block.outcome == trace::LookupOutcome::Relocated;
  return block.lookup != 0 && !isHit;
}

namespace {

bool isWithin(const document::Document& document, document::NodeId node, document::NodeId ancestor) {
  while (node != document::kNoNode && node != ancestor) {
    const document::DocumentNode* const own = document.find(node);
    node = own == nullptr ? document::kNoNode : own->parent;
  }
  return node == ancestor;
}

/// Whether a token of the prompt in this block has a node for which `matches` is true.
bool anyToken(const trace::SegmentInfo& segment, std::int32_t begin, std::int32_t end, const auto& matches) {
  std::int32_t first = 0;
  for (const trace::TokenRunInfo& run : segment.runs) {
    const bool overlaps = first < end && begin < first + run.count;
    if (overlaps && matches(run.node.empty() ? segment.node : run.node)) return true;
    first += run.count;
  }
  return first < end && matches(segment.node);
}

}  // namespace

std::optional<NodeBlocks> blocksOfNode(const ViewInput& input, const RequestBlocks& blocks,
                                       document::NodeId node) {
  const trace::RequestState* const request = findRequest(input.state(), blocks.request);
  if (request == nullptr || !input.document) return std::nullopt;
  std::map<NodePath, bool> known;
  const auto isOfNode = [&](const NodePath& path) {
    const auto [found, isNew] = known.try_emplace(path);
    if (isNew)
      found->second =
          node == document::kNoNode || isWithin(*input.document, input.nodeOf(request->run, path), node);
    return found->second;
  };
  std::optional<NodeBlocks> result;
  for (const SegmentVirtualBlocks& segment : blocks.segments) {
    if (segment.hidden || segment.segment >= request->segments.size()) continue;
    for (const VirtualBlockFacts& block : segment.blocks) {
      const std::int32_t begin = block.place.virtualIndex * blocks.blockSize;
      if (block.lookup == 0 ||
          !anyToken(request->segments[segment.segment], begin, begin + block.prompt, isOfNode))
        continue;
      if (!result) result = NodeBlocks{.shown = block.place};
      ++result->blocks;
      if (!isMiss(block)) continue;
      if (result->misses++ == 0) result->shown = block.place;
    }
  }
  return result;
}

Selection selectionOfBlock(const ViewInput& input, const BlockRef& place) {
  Selection selection;
  selection.request = place.request;
  selection.block = place;
  const trace::Replay& state = input.state();
  const trace::RequestState* own = findRequest(state, place.request);
  if (own == nullptr) return selection;
  const auto block = own->blocks.find({place.segment, place.virtualIndex});
  if (block != own->blocks.end()) selection.physical = block->second.block;
  if (place.segment < own->segments.size()) {
    const std::int32_t first = place.virtualIndex * std::max(1, state.pool().blockSize());
    const document::NodeId node = input.nodeOf(own->run, nodeOfToken(*own, place.segment, first));
    if (node != document::kNoNode) selection.nodes = {node};
  }
  return selection;
}

Selection selectionOfToken(const ViewInput& input, const TokenRef& place) {
  const std::int32_t size = std::max(1, input.state().pool().blockSize());
  Selection selection = selectionOfBlock(input, {place.request, place.segment, place.local / size});
  selection.token = place;
  const trace::RequestState* own = findRequest(input.state(), place.request);
  if (own == nullptr) return selection;
  const document::NodeId node = input.nodeOf(own->run, nodeOfToken(*own, place.segment, place.local));
  if (node != document::kNoNode) selection.nodes = {node};
  return selection;
}

Selection selectionOfBeginning(const ViewInput& input, const TokenRef& place) {
  const std::int32_t size = std::max(1, input.state().pool().blockSize());
  if (place.local % size != 0) return selectionOfToken(input, place);
  return selectionOfBlock(input, {place.request, place.segment, place.local / size});
}

Selection selectionOfPart(const ViewInput& input, RequestId request, std::uint32_t part) {
  const trace::PromptParts parts = promptParts(input, request);
  for (const trace::PartRange& range : parts.visible()) {
    if (range.part == part) return selectionOfBeginning(input, {request, range.segment, range.begin});
  }
  return {};
}

QString shownToken(const std::string& text) {
  if (const std::optional<QChar> character = byteCharacter(text)) return QString(*character);
  if (isMarker(text)) return markerText(text);
  QString shown = QString::fromStdString(text);
  // Sentencepiece writes the space before a word as a lower one eighth block.
  shown.replace(QChar(0x2581), QLatin1Char(' '));
  if (shown.size() > 1 && shown.startsWith(QLatin1Char(' '))) shown.remove(0, 1);
  QString result;
  for (const QChar c : shown) {
    if (c == QLatin1Char('\n')) {
      result += QChar(0x23CE);
    } else if (c == QLatin1Char('\t')) {
      result += QChar(0x21E5);
    } else if (c == QLatin1Char('\r')) {
      result += QChar(0x240D);
    } else if (c.unicode() < 0x20) {
      result += QChar(static_cast<char16_t>(0x2400 + c.unicode()));
    } else {
      result += c;
    }
  }
  if (!result.isEmpty() && result.trimmed().isEmpty()) result.fill(QChar(0x2423));
  return result;
}

void BlockHistory::follow(const std::shared_ptr<const TraceStore>& trace) {
  if (trace != m_trace || trace->size() < m_read) {
    m_trace = trace;
    m_read = 0;
    m_blocks.clear();
  }
  for (; m_read < m_trace->size(); ++m_read) note(m_read);
}

BlockHistory::Block& BlockHistory::at(BlockId block) {
  const auto index = static_cast<std::size_t>(std::max(0, block));
  if (index >= m_blocks.size()) m_blocks.resize(index + 1);
  return m_blocks[index];
}

const std::vector<BlockHistory::BlockEvent>* BlockHistory::entries(BlockId block) const {
  if (block < 0 || static_cast<std::size_t>(block) >= m_blocks.size()) return nullptr;
  return &m_blocks[static_cast<std::size_t>(block)].entries;
}

void BlockHistory::note(std::size_t index) {
  const trace::Event& event = m_trace->event(index);
  const auto add = [&](BlockId block, Change change) {
    at(block).entries.push_back({.event = index, .request = event.request, .change = change});
  };
  if (const auto* stored = std::get_if<trace::BlockStored>(&event.payload)) {
    add(stored->block, Change::Stored);
    at(stored->block).key = stored->key;
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
    add(shared->block, Change::Shared);
  } else if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
    add(allocated->block, Change::Allocated);
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
    // A partial block that grows keeps its content.
    if (removed->reason != trace::RemovalReason::Grown) add(removed->block, Change::Lost);
    at(removed->block).key = {};
  } else if (std::holds_alternative<trace::CacheCleared>(event.payload)) {
    for (std::size_t block = 0; block < m_blocks.size(); ++block) {
      if (m_blocks[block].key != trace::BlockKey{}) add(static_cast<BlockId>(block), Change::Lost);
      m_blocks[block].key = {};
    }
  } else if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload)) {
    replacePool(index, session->pool);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) {
    replacePool(index, snapshot->pool);
  }
}

void BlockHistory::replacePool(std::size_t index, const trace::PoolState& pool) {
  if (pool.blocks.size() > m_blocks.size()) m_blocks.resize(pool.blocks.size());
  for (std::size_t block = 0; block < m_blocks.size(); ++block) {
    const trace::BlockKey key = block < pool.blocks.size() ? pool.blocks[block].key : trace::BlockKey{};
    Block& own = m_blocks[block];
    // The event that removed the content is unknown, but the content is gone by now.
    if (own.key != trace::BlockKey{} && own.key != key) {
      own.entries.push_back({.event = index, .request = 0, .change = Change::Lost});
    }
    own.key = key;
  }
}

std::optional<std::size_t> BlockHistory::last(BlockId block, std::size_t position, bool stored) const {
  const std::vector<BlockEvent>* all = entries(block);
  if (all == nullptr) return std::nullopt;
  auto entry = std::lower_bound(all->begin(), all->end(), position,
                                [](const BlockEvent& own, std::size_t wanted) { return own.event < wanted; });
  while (entry != all->begin()) {
    --entry;
    if (stored && entry->change == Change::Lost) return std::nullopt;
    if (stored ? entry->change == Change::Stored
               : entry->change == Change::Shared || entry->change == Change::Allocated) {
      return entry->event;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> BlockHistory::storedAt(BlockId block, std::size_t position) const {
  return last(block, position, true);
}

std::optional<std::size_t> BlockHistory::usedAt(BlockId block, std::size_t position) const {
  return last(block, position, false);
}

std::optional<std::size_t> BlockHistory::lostAt(BlockId block, RequestId request,
                                                std::size_t position) const {
  const std::vector<BlockEvent>* all = entries(block);
  if (all == nullptr) return std::nullopt;
  auto entry = std::lower_bound(all->begin(), all->end(), position,
                                [](const BlockEvent& own, std::size_t wanted) { return own.event < wanted; });
  std::optional<std::size_t> lost;
  while (entry != all->begin()) {
    --entry;
    const bool taken = entry->change == Change::Allocated || entry->change == Change::Shared;
    if (taken && entry->request == request) break;
    if (entry->change == Change::Lost || entry->change == Change::Allocated) lost = entry->event;
  }
  return lost;
}

}  // namespace spanscope::ui
