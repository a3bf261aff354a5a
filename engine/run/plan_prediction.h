// SPDX-License-Identifier: GPL-3.0-or-later
// Simulates a run without a model, for predictions. The simulation uses the real planner, scheduler and
// cache, and invents the answers. Open this file when a prediction is wrong.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/kv_cache.h"
#include "engine/layout/span_table.h"
#include "engine/run/computation.h"
#include "engine/run/drive_plan.h"
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

// The places in the cache where sampled tokens are or will be. A prediction asks which prompts reach such a
// place.

/// Stores span tables whose unknown tokens are negative. Reports whether the hits of another table may depend
/// on the unknown tokens. Adding or comparing takes time proportional to the tokens of the table. The number
/// of tables does not matter. A false positive is possible and only makes a prediction less exact. A false
/// negative is not possible.
class AnswerPlaces {
 public:
  explicit AnswerPlaces(std::int32_t blockSize) : m_blockSize(blockSize) {}

  /// Adds a prompt that will be in the cache. An answer will continue its last segment.
  void add(const layout::SpanTable& table);

  struct Reach {
    /// Whether a segment continues at the place of an unknown token. Also true if the attended segments may
    /// become equal to segments with unknown tokens.
    bool continues = false;
    /// One of two conditions is true:
    /// - A segment ends inside the block in which unknown tokens begin. The unknown tokens decide which block
    ///   it hits, and whether the hit is relocated.
    /// - The segment is a hit on a segment that came after unknown tokens. The stored start position is then
    ///   unknown.
    bool ends = false;
  };
  Reach reach(const layout::SpanTable& table) const;

 private:
  /// The known properties of a segment of a table and of everything that the segment attends to.
  struct Context {
    bool known = true;           ///< the segment attends to no unknown token, not even through other segments
    std::uint64_t identity = 0;  ///< hash of the attended segments and their distances; valid only if `known`
    std::uint64_t content = 0;  ///< hash of segment and attended segments; valid only if all tokens are known
    std::int32_t knownTokens = 0;  ///< tokens of the segment before its first unknown token
  };
  /// A segment that attends to unknown tokens.
  struct Uncertain {
    std::vector<std::vector<TokenId>> seen;  ///< for each attended segment: known tokens at its beginning
    std::vector<bool> whole;                 ///< for each attended segment: whether `seen` has all its tokens
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
  /// The same hashes, but ended at any token of the block of the unknown token.
  std::unordered_set<std::uint64_t> m_ended;
  /// Hashes of a context and each beginning of a segment after an answer.
  std::unordered_set<std::uint64_t> m_moved;
  std::map<std::size_t, std::vector<Uncertain>> m_uncertain;  ///< by number of attended segments
};

/// The length of invented answers. Each answer adds the min or the max number of tokens to a later prompt.
enum class AnswerLength : std::uint8_t { Shortest, Longest };

/// The setting that all simulated plans share. All references must outlive the simulation.
struct PlanPredictionSetting {
  SessionConfig session;
  const model::ModelConfig& model;
  const text::Tokenizer& tokenizer;
  const text::ChatTemplate& chat;
};

struct PredictedStep {
  RequestId request = 0;
  layout::SpanTable table;
  policy::ComputePlan rows;  ///< compute plan of the table
  std::int32_t maxNewTokens = 0;
  cache::Admission admission;
  std::vector<trace::BlockLookedUp> blocks;
  std::vector<std::vector<cache::WhatIf>> whatIf;  ///< see StepPrediction
  std::map<BlockId, StoredBy> servedBy;
  std::int64_t evictedAtAdmission = 0;
  std::int64_t evicted = 0;
  bool continuesAnswer = false;        ///< see Doubt::ContinuesAnswer
  bool endsWhereAnswerBegins = false;  ///< see AnswerPlaces::Reach::ends
  bool standsElsewhere = false;        ///< see Doubt::SeveralBlocks
  /// Whether answers influenced an event before the admission that decides the next evictions of a full pool.
  /// The lengths of answers (`lengthsMattered`) or the tokens of answers (`contentsMattered`) influenced the
  /// event.
  bool lengthsMattered = false;
  bool contentsMattered = false;
  bool followsAnswer = false;  ///< an answer had begun before the step was admitted
  /// By block: whether the hit is uncertain. In a run, the tier may lack the block that was loaded here. Or
  /// the request that stored the block may store another content.
  std::vector<bool> isUnsure;
  bool anyUnsure = false;
  bool mayFindMore = false;  ///< a run may have tier hits that this simulation did not have
};

struct PredictedPlan {
  RunId run = 0;
  std::vector<std::optional<PredictedStep>> steps;  ///< by step; nothing: the step was not admitted
  std::vector<StepIndex> order;                     ///< steps in the order of admission
  std::int64_t mostBlocks = 0;  ///< max blocks of all steps together, if no steps share blocks
  std::optional<Error> error;
  std::optional<StepIndex> failed;  ///< the step that caused the error, if a step did
  bool stopped = false;
};

class PlanPrediction final : private RequestListener, private PlanSteps {
 public:
  /// Begins with a copy of `cache`, or with an empty cache if `cache` is null.
  PlanPrediction(const PlanPredictionSetting& setting, AnswerLength length, const cache::KvCache* cache,
                 RunId lastRun);

  void sayWhatIf() { m_witness.saysWhatIf = true; }

  /// Simulates a plan. The simulation of the next plan begins with the cache that this plan leaves.
  PredictedPlan run(const plan::Plan& plan, const RunOptions& options, layout::MessageRenderer& renderer,
                    const std::stop_token& stop);

  /// Returns the number of blocks that are not in use and have no content.
  std::int64_t emptyBlocks() const;

 private:
  /// Counts the events of each request of the simulated plan. The event numbers of the simulation are larger
  /// than those of any session. The numbers distinguish evictions by the simulation from earlier evictions.
  class Witness final : public trace::Sink {
   public:
    static constexpr std::uint64_t kFirst = std::uint64_t{1} << 62U;

    std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

    std::map<RequestId, std::vector<trace::BlockLookedUp>> lookups;
    std::map<RequestId, std::vector<trace::BlockLoaded>> loads;
    cache::BlockTiers::PredictionFacts predictionFacts;  ///< facts at the last lookup of a request
    std::map<RequestId, std::int64_t> evicted;
    bool saysWhatIf = false;
    const cache::KvCache* cache = nullptr;
    /// State of the pool at the last lookup of a request.
    trace::PoolState pool;
    /// By number of an eviction event: number of additional blocks that would have prevented the eviction.
    std::map<std::uint64_t, std::optional<std::uint64_t>> blocksToKeep;

   private:
    std::uint64_t m_sequence = kFirst;
  };

  /// Replaces the model: computes nothing and invents answers.
  class Silence final : public Computation {
   public:
    Silence(const PlanPredictionSetting& setting, AnswerLength length);
    model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                                 std::stop_token stop) override;
    void copyBlocks(std::span<const cache::BlockCopy> copies) override;
    std::int32_t vocabularySize() const override { return 0; }
    std::int32_t heads() const override { return 0; }

   private:
    SampledToken makeUp(std::uint64_t index, std::int32_t most);

    AnswerLength m_length;
    std::optional<TokenId>
        m_end;  ///< the end token of a short answer, after which the template adds the fewest tokens
    std::vector<TokenId> m_suffix;  ///< tokens with which the template closes an answer
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
    PredictedStep facts;
    std::vector<TokenId> answer;
    bool holdsAnswer = false;
  };

  bool submitNext(Scheduler& scheduler) override;
  bool hasNext() const override { return !m_result.error && m_progress->hasNext(); }
  bool done() const override { return m_progress->done(); }
  std::size_t ended() const override { return m_progress->ended(); }
  const std::optional<Error>& error() const override { return m_result.error; }
  void noteTiers(RequestId request, PredictedStep& facts);
  void explainMisses(PredictedStep& facts) const;

  PlanPredictionSetting m_setting;
  Witness m_witness;
  std::unique_ptr<cache::KvCache> m_cache;
  Silence m_silence;
  Scheduler m_scheduler;
  RunId m_lastRun;
  AnswerPlaces m_replied;  ///< places of answers, from the admitted steps
  bool m_anySampled = false;
  bool m_lengthsMatter = false;
  bool m_hasFailed = false;
  bool m_contentsMatter = false;
  bool m_pads = false;  ///< the layout of the simulated plan adds padding.
  /// Requests that were admitted with answers in their prompts, in a layout that adds padding.
  std::set<std::pair<RunId, RequestId>> m_shapeless;
  /// Whether a real run may have loaded other contents. The tiers of the real run may then keep other
  /// contents.
  bool m_tiersMatter = false;
  bool m_hasRun = false;

  std::map<RequestId, Submitted> m_submitted;  ///< requests of the simulated plan
  const plan::Plan* m_plan = nullptr;          ///< the simulated plan, or null
  PlanProgress* m_progress = nullptr;
  PredictedPlan m_result;
};

}  // namespace spanscope::run
