// SPDX-License-Identifier: GPL-3.0-or-later
// A run without a model: plan, scheduler and cache are the real ones, and replies are made up.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/kv_cache.h"
#include "engine/layout/span_table.h"
#include "engine/run/computation.h"
#include "engine/run/drive_plan.h"
#include "engine/run/plan_progress.h"
#include "engine/run/prediction.h"
#include "engine/run/request_options.h"
#include "engine/run/run_options.h"
#include "engine/run/scheduler.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <unordered_set>
#include <utility>
#include <vector>

namespace spanscope::run {

// The places in the cache where sampled tokens stand or will stand. A prediction asks which prompts reach
// such a place.

/// Holds span tables whose unknown tokens are negative, and says what another table may find where the
/// unknown tokens stand. The time to add or to compare a table grows with the tokens of that table, not with
/// the number of tables. A wrong yes is possible and only makes a prediction more careful. A wrong no is not
/// possible.
class ReplyPlaces {
 public:
  explicit ReplyPlaces(std::int32_t blockSize) : m_blockSize(blockSize) {}

  /// Adds a prompt that will be in the cache. A reply will continue its last segment.
  void add(const layout::SpanTable& table);

  struct Reach {
    /// A segment goes on where an unknown token stands. Or the segments that it sees may turn out to be the
    /// same as segments with unknown tokens.
    bool continues = false;
    /// A segment ends inside the block in which unknown tokens begin. The unknown tokens decide in which of
    /// several blocks it is found, and so whether it counts as relocated. Or the segment is found as one that
    /// stood behind unknown tokens, so that nobody knows at which base it was stored.
    bool ends = false;
  };
  Reach reach(const layout::SpanTable& table) const;

 private:
  /// What is known of a segment of a table and of what the segment sees.
  struct Context {
    bool known = true;             ///< no unknown token is seen, not even through other segments
    std::uint64_t identity = 0;    ///< equal if the same is seen at the same distances; only if `known`
    std::uint64_t content = 0;     ///< of the segment and what it sees; only if all tokens of both are known
    std::int32_t knownTokens = 0;  ///< tokens of the segment before its first unknown token
  };
  /// A segment that sees unknown tokens.
  struct Uncertain {
    std::vector<std::vector<TokenId>> seen;  ///< known tokens at the beginning of each seen segment
    std::vector<bool> whole;                 ///< whether these are all tokens of the seen segment
    std::vector<TokenId> tokens;             ///< tokens of this segment before its first unknown token
  };

  static std::vector<Context> contextsOf(const layout::SpanTable& table);
  void addMoved(const layout::Segment& segment, const Context& context);
  static bool canBeAlike(const layout::SpanTable& table, const layout::Segment& segment,
                         const Uncertain& other);
  bool meetsUncertain(const layout::SpanTable& table, const layout::Segment& segment) const;

  std::int32_t m_blockSize;
  /// Hashes of a context and the tokens before an unknown token.
  std::unordered_set<std::uint64_t> m_continued;
  /// The same, but cut at any token of the block of the unknown token.
  std::unordered_set<std::uint64_t> m_ended;
  /// Hashes of a context and each beginning of a segment behind a reply.
  std::unordered_set<std::uint64_t> m_moved;
  std::map<std::size_t, std::vector<Uncertain>> m_uncertain;  ///< by the number of segments that they see
};

/// How long made-up replies are: each adds the fewest tokens that it can to a later prompt, or the most.
enum class ReplyLength : std::uint8_t { Shortest, Longest };

/// What all rehearsed plans have in common. All references must outlive the rehearsal.
struct RehearsalSetting {
  SessionConfig session;
  const model::ModelConfig& model;
  const text::Tokenizer& tokenizer;
  const text::ChatTemplate& chat;
};

struct RehearsedStep {
  RequestId request = 0;
  layout::SpanTable table;
  policy::RowPlan rows;  ///< row plan of the table
  std::int32_t maxNewTokens = 0;
  cache::Admission admission;
  std::vector<trace::BlockLookedUp> blocks;
  std::vector<std::vector<cache::WhatIf>> whatIf;  ///< see StepPrediction
  std::map<BlockId, StoredBy> servedBy;
  std::int64_t evictedAtAdmission = 0;
  std::int64_t evicted = 0;
  bool continuesReply = false;        ///< see Doubt::ContinuesReply
  bool endsWhereReplyBegins = false;  ///< see ReplyPlaces::Reach::ends
  bool standsElsewhere = false;       ///< see Doubt::SeveralBlocks
  /// Whether something had happened before the step was admitted that decides what a full pool evicts next,
  /// and that depends on the lengths of replies (`lengthsMattered`) or on what they say (`contentsMattered`).
  bool lengthsMattered = false;
  bool contentsMattered = false;
  bool followsReply = false;  ///< a reply had begun before the step was admitted
  /// By block: it was loaded from a tier in which a run may not find it, or the request that stored it may
  /// store another content in a run.
  std::vector<bool> isUnsure;
  bool anyUnsure = false;
  bool mayFindMore = false;  ///< a run may find contents in a tier that this rehearsal did not find
};

struct Rehearsed {
  RunId run = 0;
  std::vector<std::optional<RehearsedStep>> steps;  ///< by step; nothing: the step was not admitted
  std::vector<StepIndex> order;                     ///< steps in the order of admission
  std::int64_t mostBlocks = 0;  ///< most blocks that all steps together can take if nothing is shared
  std::optional<Error> error;
  std::optional<StepIndex> failed;  ///< the step that caused the error, if a step did
  bool stopped = false;
};

class Rehearsal final : private RequestListener, private PlanSteps {
 public:
  /// Begins with a copy of `cache`, or with an empty cache if `cache` is null.
  Rehearsal(const RehearsalSetting& setting, ReplyLength length, const cache::KvCache* cache, RunId lastRun);

  void sayWhatIf() { m_witness.saysWhatIf = true; }

  /// The next plan is rehearsed against the cache that this plan leaves behind.
  Rehearsed run(const plan::Plan& plan, const RunOptions& options, layout::MessageRenderer& renderer,
                const std::stop_token& stop);

  /// Number of blocks that nobody refers to and in which nothing can be found.
  std::int64_t emptyBlocks() const;

 private:
  /// Counts what happens to each request of the plan that is rehearsed. The numbers of its events are larger
  /// than those of any session. So evictions by the rehearsal can be told from evictions before it.
  class Witness final : public trace::Sink {
   public:
    static constexpr std::uint64_t kFirst = std::uint64_t{1} << 62U;

    std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

    std::map<RequestId, std::vector<trace::BlockLookedUp>> lookups;
    std::map<RequestId, std::vector<trace::BlockLoaded>> loads;
    cache::BlockTiers::Foresight foresight;  ///< as it was when the last request was looked up
    std::map<RequestId, std::int64_t> evicted;
    bool saysWhatIf = false;
    const cache::KvCache* cache = nullptr;
    /// The pool as it was when the last request was looked up.
    trace::PoolState pool;
    /// By the number of an eviction event: how many more blocks would have kept what the event evicted.
    std::map<std::uint64_t, std::optional<std::uint64_t>> blocksToKeep;

   private:
    std::uint64_t m_sequence = kFirst;
  };

  /// Takes the place of the model: computes nothing and makes up replies.
  class Silence final : public Computation {
   public:
    Silence(const RehearsalSetting& setting, ReplyLength length);
    model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                                 std::stop_token stop) override;
    void copyBlocks(std::span<const cache::BlockCopy> copies) override;
    std::int32_t vocabularySize() const override { return 0; }
    std::int32_t heads() const override { return 0; }

   private:
    SampledToken makeUp(std::uint64_t index, std::int32_t most);

    ReplyLength m_length;
    std::optional<TokenId> m_end;   ///< ends a short reply so that the template adds least to it
    std::vector<TokenId> m_suffix;  ///< tokens with which the template closes a reply
    TokenId m_lastUnknown = 0;      ///< counts down, so that no two unknown tokens are equal
  };

  void onAdmitted(RequestId request, const cache::Admission& admission) override;
  void onPreempted(RequestId request) override;
  void onLogits(RequestId, std::span<const float>) override {}
  void onToken(RequestId request, std::int32_t index, const SampledToken& token,
               std::vector<float> segmentMass) override;
  void onFinished(RequestId request, trace::StepOutcome outcome) override;
  void onFailed(RequestId request, const Error& error) override;

  /// A step that was submitted.
  struct Submitted {
    StepIndex step = 0;
    RehearsedStep facts;
    std::vector<TokenId> reply;
    bool holdsReply = false;
  };

  bool submitNext(Scheduler& scheduler) override;
  bool hasNext() const override { return !m_result.error && m_progress->hasNext(); }
  bool done() const override { return m_progress->done(); }
  std::size_t ended() const override { return m_progress->ended(); }
  const std::optional<Error>& error() const override { return m_result.error; }
  void noteTiers(RequestId request, RehearsedStep& facts);
  void explainMisses(RehearsedStep& facts) const;

  RehearsalSetting m_setting;
  Witness m_witness;
  std::unique_ptr<cache::KvCache> m_cache;
  Silence m_silence;
  Scheduler m_scheduler;
  RunId m_lastRun;
  ReplyPlaces m_replied;  ///< places of replies, from the steps that were admitted
  bool m_anySampled = false;
  bool m_lengthsMatter = false;
  bool m_hasFailed = false;
  bool m_contentsMatter = false;
  bool m_pads = false;  ///< the layout of the plan that is rehearsed adds pads
  /// Requests that were admitted with replies in their prompts, in a layout that adds pads.
  std::set<std::pair<RunId, RequestId>> m_shapeless;
  /// A run may have loaded other contents, and so its tiers may keep other contents.
  bool m_tiersMatter = false;
  bool m_hasRun = false;

  std::map<RequestId, Submitted> m_submitted;  ///< requests of the plan that is rehearsed
  const plan::Plan* m_plan = nullptr;          ///< the plan that is rehearsed; else null
  PlanProgress* m_progress = nullptr;
  Rehearsed m_result;
};

}  // namespace spanscope::run
