// SPDX-License-Identifier: GPL-3.0-or-later
// Steps from which the rows of the behaviour table are made. A step throws std::runtime_error if it does not
// find what the row says.
#pragma once

#include "tests/engine/cache/cache_driver.h"

#include <memory>
#include <sstream>

namespace spanscope::cache::test {

using Step = std::function<void(CacheDriver&)>;
using Script = std::vector<Step>;
using Blocks = std::vector<BlockId>;
using Tokens = std::vector<TokenId>;

inline Script operator+(Script a, const Script& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Writes lookups in short form. "|" separates segments, spaces separate blocks. H is a hit, R relocated, P5
/// five copied slots, - a miss. After P or - is the reason: n never seen, t tokens differ, c context differs,
/// e evicted, a after a miss, l last token, o cache off.
inline std::string inShort(const std::vector<trace::BlockLookedUp>& lookups) {
  constexpr const char* kReasons = " ntcealo";
  std::string text;
  std::uint32_t segment = 0;
  for (const trace::BlockLookedUp& facts : lookups) {
    if (!text.empty()) text += facts.segment == segment ? " " : " | ";
    segment = facts.segment;
    switch (facts.outcome) {
      case trace::LookupOutcome::Hit:
        text += 'H';
        break;
      case trace::LookupOutcome::Relocated:
        text += 'R';
        break;
      case trace::LookupOutcome::Partial:
        text += 'P' + std::to_string(facts.tokens);
        break;
      case trace::LookupOutcome::Miss:
        text += '-';
        break;
    }
    if (facts.reason != trace::MissReason::None) text += kReasons[static_cast<int>(facts.reason)];
  }
  return text;
}

template <class T>
std::string listed(const std::vector<T>& values) {
  std::ostringstream text;
  for (const T& value : values) text << ' ' << value;
  return text.str();
}

template <class T>
void same(const T& found, const T& expected, const char* what) {
  if (found == expected) return;
  std::ostringstream text;
  if constexpr (requires { text << found; }) {
    text << what << ": found " << found << ", expected " << expected;
  } else {
    text << what << ": found" << listed(found) << ", expected" << listed(expected);
  }
  throw std::runtime_error(text.str());
}

/// Admits a request, and checks its lookups and, if given, the blocks of all segments in order. It does not
/// confirm copies.
inline Step admit(RequestSpec spec, std::string lookups, Blocks blocks = {}) {
  return [=](CacheDriver& driver) {
    const std::size_t before = driver.sink.events().size();
    CacheDriver::require(driver.admit(spec), "request " + std::to_string(spec.id) + " is admitted");
    same(inShort(driver.sink.all<trace::BlockLookedUp>(before)), lookups, "lookups");
    Blocks all;
    for (std::uint32_t segment = 0; segment < spec.segments.size(); ++segment) {
      const Blocks& some = driver.cache.blocks(spec.id, segment).blocks;
      all.insert(all.end(), some.begin(), some.end());
    }
    if (!blocks.empty()) same(all, blocks, "blocks");
  };
}

inline Step copied(RequestId id) {
  return [=](CacheDriver& driver) { driver.copied(id); };
}
inline Step compute(RequestId id, std::int32_t rows) {
  return [=](CacheDriver& driver) {
    CacheDriver::require(driver.compute(id, rows), "something is left to compute");
  };
}
inline Step computeAll(RequestId id) {
  return [=](CacheDriver& driver) { driver.computeAll(id); };
}
inline Step append(RequestId id, Tokens tokens) {
  return [=](CacheDriver& driver) {
    for (const TokenId token : tokens) {
      CacheDriver::require(driver.append(id, token), "there is room for the token");
    }
  };
}
inline Step hasNoRoom(RequestId id, TokenId token) {
  return [=](CacheDriver& driver) {
    CacheDriver::require(!driver.append(id, token), "there is no room for the token");
  };
}
/// Takes out a request and admits it again with `more` tokens, for which nothing was computed yet.
inline Step resume(RequestId id, Tokens more, std::string lookups, std::int64_t recomputed) {
  return [=](CacheDriver& driver) {
    RequestSpec spec = driver.preempt(id);
    std::vector<TokenId>& last = spec.segments.back().tokens;
    last.insert(last.end(), more.begin(), more.end());
    admit(spec, lookups)(driver);
    same(driver.sink.all<trace::RequestAdmitted>().back().recomputedTokens, recomputed,
         "tokens computed again");
    driver.copied(id);
  };
}
inline Step finish(RequestId id) {
  return [=](CacheDriver& driver) { driver.finish(id); };
}

/// Admits a request, confirms its copies and computes it.
inline Step start(const RequestSpec& spec, const std::string& lookups, const Blocks& blocks = {}) {
  return [=](CacheDriver& driver) {
    admit(spec, lookups, blocks)(driver);
    driver.copied(spec.id);
    driver.computeAll(spec.id);
  };
}
/// The same, and then finishes the request.
inline Step run(const RequestSpec& spec, const std::string& lookups, const Blocks& blocks = {}) {
  return [=](CacheDriver& driver) {
    start(spec, lookups, blocks)(driver);
    driver.finish(spec.id);
  };
}

inline Step refused(RequestSpec spec, Refusal::Reason reason, std::int64_t needed, std::int64_t available) {
  return [=](CacheDriver& driver) {
    CacheDriver::require(!driver.admit(spec), "the request is refused");
    CacheDriver::require(driver.lastRefusal->reason == reason, "the reason of the refusal");
    same(driver.lastRefusal->neededBlocks, needed, "blocks needed");
    same(driver.lastRefusal->availableBlocks, available, "blocks available");
  };
}
inline Step waits(RequestSpec spec, RequestId other) {
  return [=](CacheDriver& driver) {
    CacheDriver::require(!driver.admit(spec), "the request is refused");
    CacheDriver::require(driver.lastRefusal->reason == Refusal::Reason::WaitForOther,
                         "the reason of the refusal");
    same(driver.lastRefusal->waitFor.request, other, "the request to wait for");
  };
}

inline Step freeOrder(Blocks order) {
  return [=](CacheDriver& driver) { same(driver.cache.dump().freeOrder, order, "free list"); };
}
inline Step freeCount(std::int64_t count) {
  return [=](CacheDriver& driver) { same(driver.cache.freeBlocks(), count, "free blocks"); };
}
/// Checks the references to blocks 1, 2, …
inline Step references(std::vector<std::int32_t> expected) {
  return [=](CacheDriver& driver) {
    std::vector<std::int32_t> found;
    for (std::size_t block = 1; block <= expected.size(); ++block) {
      found.push_back(driver.cache.dump().blocks[block].references);
    }
    same(found, expected, "references");
  };
}
/// Checks the numbers of cached token slots of blocks 1, 2, …
inline Step fills(std::vector<std::int32_t> expected) {
  return [=](CacheDriver& driver) {
    std::vector<std::int32_t> found;
    for (std::size_t block = 1; block <= expected.size(); ++block) {
      found.push_back(driver.cache.dump().blocks[block].fill);
    }
    same(found, expected, "cached slots");
  };
}
inline Step clear(bool done) {
  return [=](CacheDriver& driver) {
    CacheDriver::require(driver.cache.clear() == done, "the answer of clear");
    driver.check();
  };
}

/// Runs a step and checks the names of the events that it sends, without lookups.
inline Step sending(Step step, std::string expected) {
  return [=](CacheDriver& driver) {
    const std::size_t before = driver.sink.events().size();
    step(driver);
    std::string found;
    const auto add = [&found](const std::string& name) { found += (found.empty() ? "" : " ") + name; };
    for (std::size_t index = before; index < driver.sink.events().size(); ++index) {
      const trace::Payload& payload = driver.sink.events()[index].payload;
      if (const auto* allocated = std::get_if<trace::BlockAllocated>(&payload)) {
        add("allocated:" + std::to_string(allocated->block));
      } else if (const auto* shared = std::get_if<trace::BlockShared>(&payload)) {
        add("shared:" + std::to_string(shared->block));
      } else if (const auto* stored = std::get_if<trace::BlockStored>(&payload)) {
        add("stored:" + std::to_string(stored->block) + "/" + std::to_string(stored->tokens.size()));
      } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&payload)) {
        const char* reason = removed->reason == trace::RemovalReason::Evicted ? "evicted:" : "grown:";
        add(reason + std::to_string(removed->block));
      } else if (const auto* copy = std::get_if<trace::BlockCopied>(&payload)) {
        add("copied:" + std::to_string(copy->source) + ">" + std::to_string(copy->target) + "/" +
            std::to_string(copy->slots));
      } else if (const auto* released = std::get_if<trace::BlockReleased>(&payload)) {
        add("released:" + std::to_string(released->block));
      } else if (std::holds_alternative<trace::CacheCleared>(payload)) {
        add("cleared");
      } else if (std::holds_alternative<trace::RequestAdmitted>(payload)) {
        add("admitted");
      }
    }
    same(found, expected, "events");
  };
}

/// What a lookup of this request says of one block.
inline trace::BlockLookedUp facts(const CacheDriver& driver, const RequestSpec& spec, std::size_t segment,
                                  std::size_t block) {
  return driver.cache.lookup(spec).at(segment).blocks.at(block);
}

}  // namespace spanscope::cache::test
