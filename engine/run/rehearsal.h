// SPDX-License-Identifier: GPL-3.0-or-later
// A run without a model: plan, scheduler and cache are the real ones, and replies are made up.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/kv_cache.h"
#include "engine/run/computation.h"
#include "engine/run/drive_plan.h"
#include "engine/run/plan_progress.h"
#include "engine/run/prediction.h"
#include "engine/run/reply_places.h"
#include "engine/run/request_listener.h"
#include "engine/run/run_options.h"
#include "engine/run/scheduler.h"
#include "engine/run/session_config.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::run {

/// Which replies are made up: the fewest or the most tokens that they can add to a later prompt.
enum class ReplyLength : std::uint8_t { Shortest, Longest };

/// What everything that is rehearsed has in common. All references outlive the rehearsal.
struct RehearsalSetting {
  SessionConfig session;
  const model::ModelConfig& model;
  const text::Tokenizer& tokenizer;
  const text::ChatTemplate& chat;
};

struct RehearsedStep {
  RequestId request = 0;
  layout::SpanTable table;
  policy::RowPlan rows;  ///< of the table
  std::int32_t maxNewTokens = 0;
  cache::Admission admission;
  std::vector<trace::BlockLookedUp> blocks;
  std::vector<std::vector<cache::WhatIf>> whatIf;  ///< see StepPrediction
  std::map<BlockId, StoredBy> servedBy;
  std::int64_t evictedAtAdmission = 0;
  std::int64_t evicted = 0;
  bool continuesReply = false;        ///< see Doubt::ContinuesReply
  bool endsWhereReplyBegins = false;  ///< see ReplyPlaces::Reach::ends
  /// When it was admitted, had something happened that depends on how long replies are or what they say and
  /// that decides what a full pool evicts next?
  bool lengthsMattered = false;
  bool contentsMattered = false;
  bool followsReply = false;  ///< a reply had begun when it was admitted
  /// By block: it was loaded from a tier that a run may not find it in, or who stored it may store another.
  std::vector<bool> isUnsure;
  bool anyUnsure = false;
  bool mayFindMore = false;  ///< a run may find in a tier what this one did not
};

struct Rehearsed {
  RunId run = 0;
  std::vector<std::optional<RehearsedStep>> steps;  ///< by step; those that were admitted
  std::vector<StepIndex> order;                     ///< of admission
  std::int64_t mostBlocks = 0;                      ///< that the steps can take in all, nothing shared
  std::optional<Error> error;
  std::optional<StepIndex> failed;  ///< the step that the error is about, where it is about one
  bool stopped = false;
};

class Rehearsal final : private RequestListener, private PlanSteps {
 public:
  /// With a copy of a cache, or with an empty one.
  Rehearsal(const RehearsalSetting& setting, ReplyLength length, const cache::KvCache* cache, RunId lastRun);

  void sayWhatIf() { m_witness.saysWhatIf = true; }

  /// What the cache holds afterwards is what the next plan meets.
  Rehearsed run(const plan::Plan& plan, const RunOptions& options, layout::MessageRenderer& renderer,
                const std::stop_token& stop);

  /// Blocks that nobody refers to and nothing can be found in.
  std::int64_t emptyBlocks() const;

 private:
  /// Counts what happens to each request of the plan that is rehearsed. Its numbers of events are larger than
  /// those of any session, so that what the rehearsal evicted is told from what was before.
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
    /// The pool as it was when the last request was looked up, and how many blocks more would have kept what
    /// an event took.
    trace::PoolState pool;
    std::map<std::uint64_t, std::optional<std::uint64_t>> blocksToKeep;

   private:
    std::uint64_t m_sequence = kFirst;
  };

  /// Computes nothing and makes up replies.
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
    std::optional<TokenId> m_end;   ///< ends a reply so that the template adds least
    std::vector<TokenId> m_suffix;  ///< with which the template closes a reply
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
  ReplyPlaces m_replied;  ///< of steps that were admitted
  bool m_anySampled = false;
  bool m_lengthsMatter = false;
  bool m_hasFailed = false;
  bool m_contentsMatter = false;
  bool m_pads = false;  ///< the layout of the plan that is rehearsed does
  /// Who was admitted with replies in a layout that pads.
  std::set<std::pair<RunId, RequestId>> m_shapeless;
  bool m_tiersMatter = false;  ///< what a run has loaded, and so what its tiers keep, may be something else
  bool m_hasRun = false;

  std::map<RequestId, Submitted> m_submitted;  ///< of the plan that is rehearsed
  const plan::Plan* m_plan = nullptr;          ///< it
  PlanProgress* m_progress = nullptr;
  Rehearsed m_result;
};

}  // namespace spanscope::run
