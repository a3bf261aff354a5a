// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/meters.h"

#include "engine/base/hash.h"
#include "engine/base/saturated.h"
#include "engine/metrics/metric_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace spanscope::metrics {
namespace {

void addTo(LookupSums& sums, const LookupSums& more) {
  addSaturated(sums.requests, more.requests);
  addSaturated(sums.asked, more.asked);
  addSaturated(sums.found, more.found);
}

class RecentHitRate : public Meter {
 public:
  void take(const trace::Event& event) override {
    m_hits.take(event);
    const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload);
    if (admitted != nullptr && !admitted->resumed && m_hits.recent().sums().requests > 0)
      give(event.request, m_hits.recent().rate());
  }

 private:
  HitRates m_hits;
};

/// The content of a stock prefix cache: the keys of full blocks. A key depends on all tokens up to the
/// block's end.
class PrefixCache {
 public:
  void reset(std::int32_t blockSize, std::size_t blocks) {
    m_blockSize = static_cast<std::size_t>(std::max(blockSize, 1));
    m_capacity = blocks;
    clear();
  }
  void clear() {
    m_uses.clear();
    m_oldest.clear();
  }

  /// Returns the number of leading prompt tokens in the cache, without the last token.
  std::size_t find(std::span<const TokenId> prompt) {
    std::vector<Hash128> keys = keysOf(prompt.first(prompt.empty() ? 0 : prompt.size() - 1));
    const auto missing =
        std::ranges::find_if(keys, [this](const Hash128& key) { return !m_uses.contains(key); });
    keys.erase(missing, keys.end());
    use(keys);
    return keys.size() * m_blockSize;
  }
  void store(std::span<const TokenId> tokens) { use(keysOf(tokens)); }

 private:
  struct Less {
    bool operator()(const Hash128& a, const Hash128& b) const {
      return std::pair(a.high, a.low) < std::pair(b.high, b.low);
    }
  };

  std::vector<Hash128> keysOf(std::span<const TokenId> tokens) const {
    std::vector<Hash128> keys;
    for (std::size_t end = m_blockSize; end <= tokens.size(); end += m_blockSize) {
      const std::span<const TokenId> block = tokens.subspan(end - m_blockSize, m_blockSize);
      std::string text = keys.empty() ? std::string() : keys.back().hex();
      text.append(reinterpret_cast<const char*>(block.data()), block.size_bytes());
      keys.push_back(hash128(std::string_view(text)));
    }
    return keys;
  }
  /// Marks blocks as used. The first block becomes the most recently used, so no block outlives its
  /// predecessor.
  void use(const std::vector<Hash128>& keys) {
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      const auto [entry, isNew] = m_uses.try_emplace(*key, 0);
      if (!isNew) m_oldest.erase(entry->second);
      entry->second = ++m_clock;
      m_oldest.emplace(m_clock, *key);
    }
    while (m_uses.size() > m_capacity) {
      m_uses.erase(m_oldest.begin()->second);
      m_oldest.erase(m_oldest.begin());
    }
  }

  std::size_t m_blockSize = 16;
  std::size_t m_capacity = 0;
  std::uint64_t m_clock = 0;
  std::map<Hash128, std::uint64_t, Less> m_uses;  ///< by key: time of the last use
  std::map<std::uint64_t, Hash128> m_oldest;      ///< by time of the last use: key
};

class PrefixEquivalent : public Meter {
 public:
  void take(const trace::Event& event) override {
    if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload)) {
      begin(session->pool);
      m_isKnown = std::ranges::all_of(session->pool.blocks,
                                      [](const trace::BlockState& block) { return !block.cached; });
    } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) {
      begin(snapshot->pool);
      m_isKnown = false;
    } else if (std::holds_alternative<trace::CacheCleared>(event.payload)) {
      m_cache.clear();
      m_isKnown = m_hasPool;
    } else if (event.run != 0 && event.request != 0) {
      ofRequest(event.request, event.payload);
    }
  }

 private:
  struct Sequence {
    std::vector<TokenId> tokens;
    std::size_t prompt = 0;  ///< number of prompt tokens in `tokens`
  };

  void begin(const trace::PoolState& pool) {
    // Block 0 is the null block.
    m_hasPool = pool.blocks.size() > 1;
    m_cache.reset(pool.blockSize, pool.blocks.empty() ? 0 : pool.blocks.size() - 1);
    m_sequences.clear();
  }

  void ofRequest(RequestId request, const trace::Payload& payload) {
    if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&payload)) {
      Sequence& own = m_sequences[request] = {};
      for (const trace::SegmentInfo& segment : table->segments) {
        const auto begin = std::clamp<std::int64_t>(segment.visibleBegin, 0, std::ssize(segment.tokens));
        if (!segment.hidden)
          own.tokens.insert(own.tokens.end(), segment.tokens.begin() + begin, segment.tokens.end());
      }
      own.prompt = own.tokens.size();
      return;
    }
    const auto found = m_sequences.find(request);
    if (found == m_sequences.end()) return;
    Sequence& own = found->second;
    if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&payload)) {
      if (admitted->resumed || !m_hasPool || !m_isKnown) return;
      give(request, static_cast<double>(m_cache.find(std::span(own.tokens).first(own.prompt))));
    } else if (const auto* token = std::get_if<trace::TokenGenerated>(&payload)) {
      if (own.tokens.size() == own.prompt) m_cache.store(own.tokens);
      own.tokens.push_back(token->token);
    } else if (std::holds_alternative<trace::StepFinished>(payload)) {
      // No forward pass has read the last token.
      if (own.tokens.size() > own.prompt) m_cache.store(std::span(own.tokens).first(own.tokens.size() - 1));
      m_sequences.erase(found);
    }
  }

  PrefixCache m_cache;
  bool m_hasPool = false;
  bool m_isKnown = false;
  std::map<RequestId, Sequence> m_sequences;  ///< sequences of requests that have not ended
};

}  // namespace

void HitRateWindow::add(const LookupSums& more) {
  if (more.requests <= 0 || more.asked < 0 || more.found < 0) return;
  m_added.push_back(more);
  addTo(m_sums, more);
  while (m_added.size() > 1 && m_sums.requests > m_mostRequests) {
    const LookupSums& oldest = m_added.front();
    m_sums.requests -= oldest.requests;
    m_sums.asked -= oldest.asked;
    m_sums.found -= oldest.found;
    m_added.pop_front();
  }
}

void HitRateWindow::reset() {
  m_added.clear();
  m_sums = {};
}

void HitRates::take(const trace::Event& event) {
  if (std::holds_alternative<trace::CacheCleared>(event.payload) ||
      std::holds_alternative<trace::SessionStarted>(event.payload)) {
    m_recent.reset();
    return;
  }
  if (event.run == 0 || event.request == 0) return;
  if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload)) {
    bool& any = m_lookedUp[event.request];
    any = any || lookup->reason != trace::MissReason::CacheOff;
    return;
  }
  const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload);
  if (admitted == nullptr) return;
  const auto lookedUp = m_lookedUp.find(event.request);
  const bool isOff = lookedUp != m_lookedUp.end() && !lookedUp->second;
  if (lookedUp != m_lookedUp.end()) m_lookedUp.erase(lookedUp);
  if (isOff) return;
  const LookupSums sums{.requests = 1, .asked = admitted->promptTokens, .found = admitted->cachedTokens};
  if (admitted->resumed) {
    addTo(m_resumed, sums);
    return;
  }
  addTo(m_admitted, sums);
  m_recent.add(sums);
}

std::optional<double> Meter::of(RequestId request) const {
  const auto found = m_values.find(request);
  return found == m_values.end() ? std::nullopt : std::optional(found->second);
}

Meters::Meters() {
  for (const Metric& metric : all()) {
    if (metric.meter != nullptr) m_meters.emplace_back(&metric, metric.meter());
  }
}

void Meters::take(const trace::Event& event) {
  for (const auto& [metric, meter] : m_meters) meter->take(event);
}

Metered Meters::of(RequestId request) const {
  Metered metered;
  for (const auto& [metric, meter] : m_meters) {
    if (const std::optional<double> value = meter->of(request)) metered[metric->id] = *value;
  }
  return metered;
}

Metered Meters::of(std::span<const RequestId> requests) const {
  Metered metered;
  for (const RequestId request : requests) addTo(metered, of(request));
  return metered;
}

void addTo(Metered& metered, const Metered& later) {
  for (const auto& [id, value] : later) {
    double& sum = metered[id];
    sum = get(id).over == Over::Sum ? sum + value : value;
  }
}

std::unique_ptr<Meter> prefixEquivalent() {
  return std::make_unique<PrefixEquivalent>();
}

std::unique_ptr<Meter> recentHitRate() {
  return std::make_unique<RecentHitRate>();
}

}  // namespace spanscope::metrics
