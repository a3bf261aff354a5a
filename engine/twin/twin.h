// SPDX-License-Identifier: GPL-3.0-or-later
// A twin is the caching rules of another server as a model: given requests, it says what the server would
// find of each in its cache. It computes no model, so replies are given with the requests and never guessed.
#pragma once

#include "engine/base/ids.h"
#include "engine/twin/telling/cache_observer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::twin {

/// What becomes of tokens of a prompt, and why.
enum class Fate : std::uint8_t {
  Found,        ///< kept at this place of this beginning
  Moved,        ///< kept behind another beginning, and moved here (approximate)
  Differs,      ///< computed: nothing that is kept goes on like this
  Gone,         ///< computed: an earlier request had them, but they had to make room
  NotWhole,     ///< computed: as in an earlier request, but only whole blocks or pages are kept and found
  AlwaysAgain,  ///< computed: kept, but the last token of a prompt is always computed, with its block
  TooLittle,    ///< computed: the server's cache has no room for the request, so it is refused
};
const char* fateName(Fate fate);      ///< "found", "moved", "differs", …
const char* fateSentence(Fate fate);  ///< why, as a person reads it

/// Tokens [begin, begin + count) of a prompt.
struct FateRun {
  std::int32_t begin = 0;
  std::int32_t count = 0;
  Fate fate = Fate::Differs;
  bool operator==(const FateRun&) const = default;
};

/// A request that is served from its prompt to its last token.
struct Request {
  std::span<const TokenId> prompt;  ///< at least one token
  std::span<const TokenId> reply;   ///< as sampled; the server has not computed the last of them
  std::string_view salt;            ///< empty: none
  /// It comes while the one before it, and all with which that came, are still answered. Only servers with
  /// slots serve it otherwise then: a slot answers one request at a time.
  bool isBeside = false;
};

struct Answer {
  bool isRefused = false;
  std::int32_t cached = 0;     ///< tokens of the prompt that are not computed
  std::vector<FateRun> fates;  ///< of the whole prompt, in its order
  /// Where it was looked for, as a person reads it: "slot 0, which held 35 tokens"; empty: there is one
  /// place.
  std::string place{};
  bool operator==(const Answer&) const = default;
};

/// What a twin is set up with. A server ignores what it does not have.
struct Settings {
  std::int64_t cacheTokens = 0;  ///< room for so many tokens; 0: as much as is needed
  std::int32_t blockSize = 0;    ///< tokens of a block or page; 0: the server's standard
  std::int32_t slots = 0;        ///< sequences that are kept; 0: the server's standard
  std::int32_t chunk = 0;        ///< tokens of a run that is worth moving; 0: none is moved
};

inline constexpr const char* kServedName = "served";

/// A server with what its cache holds.
class Twin {
 public:
  Twin() = default;
  virtual ~Twin() = default;
  Twin& operator=(const Twin&) = delete;
  Twin& operator=(Twin&&) = delete;

  /// A second server in the same state.
  virtual std::unique_ptr<Twin> copy() const = 0;
  virtual CacheShape shape() const = 0;
  /// Throws Failure for a prompt without tokens, and then leaves everything as it was. `observer`, unless it
  /// is null, is told what happens in the cache; the request has the name kServedName there.
  virtual Answer serve(const Request& request, CacheObserver* observer) = 0;
  Answer serve(const Request& request) { return serve(request, nullptr); }

 protected:
  Twin(const Twin&) = default;
  Twin(Twin&&) = default;
};

}  // namespace spanscope::twin
