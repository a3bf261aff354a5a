// SPDX-License-Identifier: GPL-3.0-or-later
// Every change that is named is made, and the block is found then.
#include "engine/cache/what_if.h"
#include "engine/trace/sink.h"
#include "tests/engine/cache/cache_script.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstdlib>
#include <map>
#include <random>

using namespace spanscope;
using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

CacheConfig pool(std::int32_t blockCount, std::int32_t blockSize = 4) {
  CacheConfig config;
  config.blockSize = blockSize;
  config.blockCount = blockCount;
  config.fingerprint = "model";
  return config;
}

/// A request, and where its messages begin: by segment.
struct Asked {
  RequestSpec spec;
  std::vector<std::vector<std::int32_t>> messages;
};

Asked withMessages(RequestSpec spec) {
  Asked asked{std::move(spec), {}};
  asked.messages.resize(asked.spec.segments.size(), {0});
  return asked;
}

/// Texts one after the other, in one segment.
Asked joined(RequestId id, const std::vector<Tokens>& texts) {
  Tokens all;
  std::vector<std::int32_t> begins;
  for (const Tokens& text : texts) {
    begins.push_back(static_cast<std::int32_t>(all.size()));
    all = all + text;
  }
  return {prompt(id, all), {begins}};
}

/// Nothing, if it was refused.
bool runOn(KvCache& cache, const RequestSpec& spec) {
  if (!std::holds_alternative<Admission>(cache.admit(spec))) return false;
  cache.copied(spec.id);
  for (std::uint32_t segment = 0; segment < spec.segments.size(); ++segment)
    cache.computed(spec.id, segment, static_cast<std::int32_t>(spec.segments[segment].tokens.size()));
  cache.finish(spec.id);
  return true;
}

/// A cache with everything that was asked of it.
struct History {
  explicit History(const CacheConfig& cacheConfig) : config(cacheConfig), cache(cacheConfig, sink) {}

  void run(const RequestSpec& spec) {
    if (runOn(cache, spec)) ran.push_back(spec);
  }
  void clear() {
    cache.clear();
    ran.clear();
  }

  CacheConfig config;
  trace::NoSink sink;
  KvCache cache;
  std::vector<RequestSpec> ran;
};

struct Advice {
  std::vector<trace::BlockLookedUp> lookups;
  std::vector<std::vector<WhatIf>> changes;

  /// The first change that is named for a block.
  const WhatIf& first(std::uint32_t segment, std::int32_t block) const { return all(segment, block).at(0); }
  const std::vector<WhatIf>& all(std::uint32_t segment, std::int32_t block) const {
    for (std::size_t i = 0; i < lookups.size(); ++i) {
      if (lookups[i].segment == segment && lookups[i].virtualIndex == block) return changes[i];
    }
    throw std::runtime_error("there is no such block");
  }
};

Advice adviceFor(const KvCache& cache, const Asked& asked) {
  Advice advice;
  for (const SegmentLookup& lookup : cache.lookup(asked.spec))
    advice.lookups.insert(advice.lookups.end(), lookup.blocks.begin(), lookup.blocks.end());
  const trace::PoolState state = cache.dump();
  WhatIfInput input{
      .pool = state,
      .lookups = advice.lookups,
      .segments = {},
      .cacheTails = cache.config().cacheTails,
      .plainRoot = cache.plainRoot(asked.spec.salt),
      .blocksToKeep = [&cache](std::uint64_t sequence) { return cache.blocksToKeep(sequence); }};
  for (std::size_t segment = 0; segment < asked.spec.segments.size(); ++segment) {
    const SegmentSpec& spec = asked.spec.segments[segment];
    input.segments.push_back(
        {.tokens = spec.tokens, .seesOthers = !spec.sees.empty(), .messages = asked.messages[segment]});
  }
  advice.changes = whatIf(input);
  return advice;
}

std::int32_t foundOf(const KvCache& cache, const RequestSpec& spec, const trace::BlockLookedUp& block) {
  const std::vector<SegmentLookup> lookups = cache.lookup(spec);
  return lookups.at(block.segment).blocks.at(static_cast<std::size_t>(block.virtualIndex)).tokens;
}

/// The request with [begin, begin + count) of its segment as a span of its own. `span`: its number then.
RequestSpec withSpan(const RequestSpec& spec, std::uint32_t segment, const WhatIf& change,
                     std::uint32_t& span) {
  RequestSpec out = spec;
  out.segments.clear();
  std::vector<std::vector<std::uint32_t>> parts(spec.segments.size());
  for (std::uint32_t index = 0; index < spec.segments.size(); ++index) {
    const SegmentSpec& old = spec.segments[index];
    const auto add = [&](std::int32_t from, std::int32_t to, bool isSpan, bool seesParts) {
      SegmentSpec& part = out.segments.emplace_back();
      part.node = old.node;
      part.base = old.base + from;
      part.tokens = {old.tokens.begin() + from, old.tokens.begin() + to};
      const auto see = [&](std::uint32_t seen) {
        part.sees.push_back({seen, part.base - out.segments[seen].base, 0});
      };
      if (!isSpan) {
        for (const SeenSegment& seen : old.sees) {
          for (const std::uint32_t other : parts[seen.segment]) see(other);
        }
        for (const std::uint32_t other : parts[index]) {
          if (seesParts) see(other);
        }
      }
      parts[index].push_back(static_cast<std::uint32_t>(out.segments.size() - 1));
    };
    const auto length = static_cast<std::int32_t>(old.tokens.size());
    if (index != segment) {
      add(0, length, false, false);
      continue;
    }
    if (change.begin > 0) add(0, change.begin, false, false);
    add(change.begin, change.begin + change.count, true, false);
    span = parts[index].back();
    if (change.begin + change.count < length) add(change.begin + change.count, length, false, true);
  }
  return out;
}

/// Copies are left out where there is no room for their sources, and less is found then.
bool hasRoomToCopy(const History& history, const RequestSpec& spec) {
  return history.cache.blocksPerRequest(spec) + static_cast<std::int64_t>(spec.segments.size()) <
         history.config.blockCount;
}

/// Makes the change. Nothing, if it cannot be made here; else how many tokens of the block are found.
std::optional<std::int32_t> foundAfter(const History& history, const Asked& asked,
                                       const trace::BlockLookedUp& block, const WhatIf& change) {
  trace::NoSink sink;
  RequestSpec spec = asked.spec;
  std::vector<TokenId>& tokens = spec.segments[block.segment].tokens;
  switch (change.change) {
    case Change::AlwaysComputed: {
      const auto copy = history.cache.copy(sink);
      runOn(*copy, spec);
      return foundOf(*copy, spec, block);
    }
    case Change::CacheOn: {
      CacheConfig config = history.config;
      config.enabled = config.cacheTails = true;
      KvCache cache(config, sink);
      if (!runOn(cache, spec)) return std::nullopt;
      return foundOf(cache, spec, block);
    }
    case Change::OtherTokens:
      std::copy(change.stored.begin(), change.stored.end(), tokens.begin() + change.begin);
      return foundOf(history.cache, spec, block);
    case Change::OwnSpan: {
      std::uint32_t span = 0;
      spec = withSpan(spec, block.segment, change, span);
      if (!hasRoomToCopy(history, spec)) return std::nullopt;
      const SegmentLookup found = history.cache.lookup(spec)[span];
      if (found.cachedTokens < change.cached) return 0;
      return change.found;
    }
    case Change::SameContext: {
      const trace::PoolState pool = history.cache.dump();
      const trace::BlockState& stored = pool.blocks[static_cast<std::size_t>(change.block)];
      for (const RequestSpec& other : history.ran) {
        if (other.id != stored.storedByRequest) continue;
        for (std::uint32_t index = 0; index < other.segments.size(); ++index) {
          if (other.segments[index].node != stored.storedByNode) continue;
          RequestSpec same = other;
          same.id = spec.id;
          same.segments.resize(index + 1);
          same.segments[index].tokens = tokens;
          // Of the last segment the last token is computed: it is the last where it was before.
          if (block.segment + 1 < spec.segments.size()) same.segments.emplace_back().tokens = {9999};
          trace::BlockLookedUp place = block;
          place.segment = index;
          return foundOf(history.cache, same, place);
        }
      }
      return std::nullopt;
    }
    case Change::FindEarlier: {
      const auto copy = history.cache.copy(sink);
      // The tokens before it are computed separately, with one different token.
      RequestSpec before = spec;
      before.segments.resize(block.segment + 1);
      before.segments[block.segment].tokens.resize(static_cast<std::size_t>(block.virtualIndex * 4));
      before.segments[block.segment].tokens.push_back(9999);
      if (!runOn(*copy, before)) return std::nullopt;
      const trace::PoolState state = copy->dump();
      const trace::PoolState was = history.cache.dump();
      const auto own = static_cast<std::size_t>(change.block);
      if (!state.blocks[own].cached || !(state.blocks[own].key == was.blocks[own].key)) return std::nullopt;
      return foundOf(*copy, spec, block);
    }
    case Change::LargerPool: {
      CacheConfig config = history.config;
      config.blockCount = static_cast<std::int32_t>(change.blockCount);
      KvCache cache(config, sink);
      for (const RequestSpec& other : history.ran) runOn(cache, other);
      return foundOf(cache, spec, block);
    }
    case Change::Again: {
      const auto copy = history.cache.copy(sink);
      if (!runOn(*copy, spec)) return std::nullopt;
      return foundOf(*copy, spec, block);
    }
  }
  return std::nullopt;
}

#define CHANGES_TO(found, ...) QCOMPARE(QString(changeName((found).change)), QString(changeName(__VA_ARGS__)))

}  // namespace

class TestWhatIf : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theLastTokenIsAlwaysComputed() {
    History history(pool(20));
    history.run(prompt(1, range(1, 8)));
    const Advice advice = adviceFor(history.cache, withMessages(prompt(2, range(1, 8))));
    QVERIFY(advice.all(0, 0).empty());
    QCOMPARE(advice.all(0, 1).size(), std::size_t{1});
    CHANGES_TO(advice.first(0, 1), Change::AlwaysComputed);
    QCOMPARE(advice.first(0, 1).found, 3);
  }

  void aTokenThatDiffers() {
    History history(pool(20));
    history.run(prompt(1, range(1, 12)));
    Tokens tokens = range(1, 16);
    tokens[5] = 77;
    const Advice advice = adviceFor(history.cache, withMessages(prompt(2, tokens)));
    const WhatIf& change = advice.first(0, 1);
    CHANGES_TO(change, Change::OtherTokens);
    QCOMPARE(change.begin, 5);
    QCOMPARE(change.stored, (Tokens{6, 7, 8}));
    QCOMPARE(change.found, 4);
    CHANGES_TO(advice.all(0, 1)[1], Change::Again);
  }

  void textThatIsStoredAsASpan() {
    History history(pool(40));
    const Tokens document = range(100, 11);
    history.run(spans(1, {range(50, 5), document}, range(900, 3)));
    // The same text after a system prompt, as one message of three, at no multiple of the block.
    const Asked asked = joined(2, {range(1, 6), document, range(950, 5)});
    const Advice advice = adviceFor(history.cache, asked);
    // Block 0 ends before it.
    CHANGES_TO(advice.first(0, 0), Change::Again);
    const WhatIf& change = advice.first(0, 1);
    CHANGES_TO(change, Change::OwnSpan);
    QCOMPARE(change.begin, 6);
    QCOMPARE(change.count, 11);
    QCOMPARE(change.cached, 11);
    QCOMPARE(change.found, 2);
    QCOMPARE(advice.first(0, 2).found, 4);
    CHANGES_TO(advice.first(0, 5), Change::Again);
    QCOMPARE(foundAfter(history, asked, advice.lookups[1], change), std::optional(2));
    // Without a message's beginning the user could make a span of nothing.
    Asked one = asked;
    one.messages[0] = {0};
    CHANGES_TO(adviceFor(history.cache, one).first(0, 1), Change::Again);
    // Another tenant's contents are not spoken of.
    Asked other = asked;
    other.spec.salt = "tenant";
    CHANGES_TO(adviceFor(history.cache, other).first(0, 1), Change::Again);
  }

  void textThatIsStoredSeeingSomethingElse() {
    History history(pool(40));
    history.run(spans(1, {range(1, 8), range(11, 8)}, range(900, 6)));
    const Asked asked = withMessages(spans(2, {range(11, 8), range(1, 8)}, range(900, 6)));
    const Advice advice = adviceFor(history.cache, asked);
    const WhatIf& change = advice.first(2, 0);
    CHANGES_TO(change, Change::SameContext);
    QCOMPARE(change.found, 4);
    // What is stored seeing nothing is said to be a span.
    const Asked dependent = withMessages(spans(3, {range(300, 8)}, range(11, 8) + range(60, 2)));
    CHANGES_TO(adviceFor(history.cache, dependent).first(1, 0), Change::Again);
    Asked split = dependent;
    split.messages[1] = {0, 8};
    CHANGES_TO(adviceFor(history.cache, split).first(1, 0), Change::OwnSpan);
  }

  void aPoolThatWouldHaveKeptIt() {
    History history(pool(6));
    history.run(prompt(1, range(1, 12)));
    history.run(prompt(2, range(100, 16)));
    const Asked asked = withMessages(prompt(3, range(1, 12)));
    const Advice advice = adviceFor(history.cache, asked);
    // Two blocks were free: two of the three had to go, the last one first, and as many more would have kept
    // all.
    QVERIFY(advice.all(0, 0).empty());
    const WhatIf& second = advice.first(0, 1);
    CHANGES_TO(second, Change::LargerPool);
    QCOMPARE(second.blockCount, std::int64_t{8});
    const WhatIf& third = advice.first(0, 2);
    CHANGES_TO(third, Change::LargerPool);
    QCOMPARE(third.blockCount, std::int64_t{8});
    QCOMPARE(third.found, 3);
    // No pool keeps what was emptied.
    history.cache.clear();
    CHANGES_TO(adviceFor(history.cache, asked).first(0, 1), Change::Again);
  }

  void whatStandsBehindAMissing() {
    History history(pool(6));
    history.run(prompt(1, range(1, 16)));
    // A copy of the chain's beginning is evicted before its end only where somebody holds the end.
    KvCache& cache = history.cache;
    const RequestSpec holder = prompt(2, range(1, 17));
    QVERIFY(std::holds_alternative<Admission>(cache.admit(holder)));
    cache.copied(2);
    cache.computed(2, 0, 17);
    const Advice advice = adviceFor(cache, withMessages(prompt(3, range(500, 4) + range(5, 12))));
    // Equal tokens after another beginning are another content.
    CHANGES_TO(advice.first(0, 1), Change::Again);
    cache.finish(2);
  }

  void cachingOff() {
    CacheConfig config = pool(20);
    config.cacheTails = false;
    History history(config);
    const Advice advice = adviceFor(history.cache, withMessages(spans(1, {range(1, 6)}, range(50, 3))));
    CHANGES_TO(advice.first(0, 0), Change::Again);
    CHANGES_TO(advice.first(0, 1), Change::CacheOn);
    CHANGES_TO(advice.first(1, 0), Change::CacheOn);
  }

  /// Random requests on small pools: whatever is named is made.
  void everyChangeDoesWhatIsSaid() {
    const char* given = std::getenv("SPANSCOPE_TEST_SEED");
    const unsigned seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20261124U;
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    const auto below = [&random](int limit) {
      return static_cast<int>(random() % static_cast<unsigned>(limit));
    };
    std::map<std::string, int> made;
    for (int round = 0; round < 150; ++round) {
      History history(pool(12 + below(50)));
      std::vector<Tokens> texts;
      for (int i = 0; i < 7; ++i) texts.push_back(range(1000 * (i + 1), 1 + below(15)));
      // Some differ from others in one token.
      for (int i = 0; i < 3; ++i) {
        Tokens other = texts[static_cast<std::size_t>(below(7))];
        other[static_cast<std::size_t>(below(static_cast<int>(other.size())))] = 77;
        texts.push_back(other);
      }
      const auto some = [&](int most) {
        std::vector<Tokens> chosen;
        for (int i = 1 + below(most); i > 0; --i)
          chosen.push_back(texts[static_cast<std::size_t>(below(static_cast<int>(texts.size())))]);
        return chosen;
      };
      const auto ask = [&](RequestId id) {
        if (below(2) == 0) return joined(id, some(4));
        const std::vector<Tokens> documents = some(3);
        const Asked question = joined(id, some(2));
        Asked asked = withMessages(spans(id, documents, question.spec.segments[0].tokens));
        asked.messages.back() = question.messages[0];
        return asked;
      };
      RequestId id = 1;
      for (int i = 0; i < 12; ++i) history.run(ask(id++).spec);
      for (int i = 0; i < 3; ++i) {
        const Asked asked = ask(id++);
        const Advice advice = adviceFor(history.cache, asked);
        for (std::size_t block = 0; block < advice.lookups.size(); ++block) {
          const trace::BlockLookedUp& lookup = advice.lookups[block];
          const bool isFound = lookup.tokens == lookup.wanted;
          QCOMPARE(advice.changes[block].empty(), isFound);
          for (const WhatIf& change : advice.changes[block]) {
            QVERIFY(change.found >= lookup.tokens);
            const std::optional<std::int32_t> found = foundAfter(history, asked, lookup, change);
            if (!found) continue;
            if (!hasRoomToCopy(history, asked.spec)) continue;
            QVERIFY2(*found >= change.found, qPrintable(QStringLiteral("round %1, %2: found %3 of %4")
                                                            .arg(round)
                                                            .arg(QString::fromUtf8(changeName(change.change)))
                                                            .arg(*found)
                                                            .arg(change.found)));
            ++made[changeName(change.change)];
          }
        }
        history.run(asked.spec);
      }
    }
    for (const auto& [name, count] : made) qInfo("%s: %d", name.c_str(), count);
    for (const char* name :
         {"always_computed", "other_tokens", "own_span", "same_context", "larger_pool", "again"})
      QVERIFY2(made[name] > 20, name);
  }
};

SPANSCOPE_TEST(tst_what_if, TestWhatIf)
#include "tst_what_if.moc"
