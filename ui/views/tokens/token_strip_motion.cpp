// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tokens/token_strip_motion.h"

#include "ui/views/common/request_blocks.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

namespace spanscope::ui {

const StripToken* StripMotion::tokenBefore(const TokenStrip& now, std::size_t token) const {
  if (before.request != now.request || token >= before.tokens.size()) return nullptr;
  return &before.tokens[token];
}

bool StripMotion::travelsTo(std::size_t token) const {
  const auto found =
      std::lower_bound(travels.begin(), travels.end(), token,
                       [](const TokenTravel& travel, std::size_t wanted) { return travel.to < wanted; });
  return found != travels.end() && found->to == token;
}

bool StripMotion::isComputing(std::size_t token) const {
  return std::binary_search(computing.begin(), computing.end(), token);
}

StripMotion stripMotion(const ViewInput& input, const Moment& moment, const TokenStrip& strip) {
  StripMotion motion;
  ViewInput earlier = input;
  earlier.position = moment.first;
  motion.before = tokenStrip(earlier);

  std::unordered_map<std::int64_t, std::size_t> atPosition;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> places;
  for (std::size_t i = 0; i < strip.tokens.size(); ++i) {
    const StripToken& token = strip.tokens[i];
    if (token.cropped >= 0) continue;
    atPosition.emplace(token.position, i);
    places.emplace(std::pair(token.place.segment, token.place.local), i);
  }
  // The lookup of a block has the position at which the block was stored.
  const auto travel = [&](std::uint64_t sequence) {
    const trace::BlockLookedUp* lookup = lookupEvent(*input.trace, sequence);
    if (lookup == nullptr || lookup->base == lookup->storedBase) return;
    const std::int32_t begin = lookup->virtualIndex * strip.blockSize;
    for (std::int32_t local = begin; local < begin + lookup->tokens; ++local) {
      const auto to = places.find(std::pair(lookup->segment, local));
      const auto from = atPosition.find(lookup->storedBase + local);
      if (to == places.end() || from == atPosition.end()) continue;
      motion.travels.push_back({.from = from->second, .to = to->second});
      if (motion.note.isEmpty())
        motion.note =
            tr("stored at position %1, used at %2").arg(lookup->storedBase + local).arg(lookup->base + local);
    }
  };
  std::optional<RequestBlocks> blocks;
  for (std::size_t i = moment.first; i < moment.last; ++i) {
    const trace::Event& event = input.trace->event(i);
    const auto* shared = std::get_if<trace::BlockShared>(&event.payload);
    if (shared != nullptr && event.request == strip.request) {
      if (!blocks) blocks = requestBlocks(*input.trace, input.state(), strip.request);
      const VirtualBlockFacts* facts = blocks->find({strip.request, shared->segment, shared->virtualIndex});
      if (facts != nullptr) travel(facts->lookup);
    }
    const auto* copied = std::get_if<trace::BlockCopied>(&event.payload);
    if (copied != nullptr && event.request == strip.request) {
      if (!blocks) blocks = requestBlocks(*input.trace, input.state(), strip.request);
      const std::optional<BlockRef> place = placeOf(input.state(), strip.request, copied->target);
      const VirtualBlockFacts* facts = place ? blocks->find(*place) : nullptr;
      if (facts != nullptr) travel(facts->lookup);
    }
    const auto* batch = std::get_if<trace::BatchComputed>(&event.payload);
    if (batch == nullptr) continue;
    for (const trace::BatchEntry& entry : batch->entries) {
      if (entry.request != strip.request) continue;
      for (std::int32_t local = entry.begin; local < entry.begin + entry.count; ++local) {
        const auto token = places.find(std::pair(entry.segment, local));
        if (token != places.end()) motion.computing.push_back(token->second);
      }
    }
  }
  std::sort(motion.computing.begin(), motion.computing.end());
  std::sort(motion.travels.begin(), motion.travels.end(),
            [](const TokenTravel& a, const TokenTravel& b) { return a.to < b.to; });
  return motion;
}

}  // namespace spanscope::ui
