// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the trace: the ordered event stream of a session, as plain values. All views show data of the
// trace. Event names follow vLLM's KV events if vLLM has such an event. Each payload lists its fields once in
// event_rows/, in file order. The codec, the JSON form and the fingerprint of the file format come from these
// lists. Open this file to add an event or a field.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/shared.h"
#include "engine/trace/pool_state.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::trace {

// ---- runs and steps ----------------------------------------------------------------------

/// The start of a session, or of a recording that begins in the middle of a session. All later events change
/// this state.
struct SessionStarted {
  std::string program;  ///< name and version
  std::string model;    ///< directory or shape of the model
  std::string backend;  ///< device and instruction set
  std::int32_t threads = 0;
  std::int32_t layers = 0;
  std::int32_t heads = 0;
  PoolState pool;  ///< initial state
  bool operator==(const SessionStarted&) const = default;
};

struct RunStarted {
  std::string queryJson;  ///< the query in canonical JSON
  std::string policy;  ///< "prefix", "spans"; for a run on servers, the names of the servers: "vLLM on gpu-3"
  std::uint64_t seed = 0;
  bool operator==(const RunStarted&) const = default;
};
enum class RunOutcome : std::uint8_t { Finished, Stopped, Failed };
struct RunFinished {
  RunOutcome outcome = RunOutcome::Finished;
  std::string answer;  ///< the text of the result items, joined by newlines
  bool operator==(const RunFinished&) const = default;
};

struct PlannedStep {
  StepIndex step = 0;
  NodePath node;
  std::uint32_t copy = 0;
  std::uint32_t ply = 0;
  std::vector<StepIndex> needs;
  bool operator==(const PlannedStep&) const = default;
};
struct PlanMade {
  std::vector<PlannedStep> steps;
  std::string explain;  ///< the text of `explain`
  bool operator==(const PlanMade&) const = default;
};

enum class PassageRanking : std::uint8_t { Lexical, Embedding, Hybrid };
/// A passage of a document that an augment found.
struct PassageInfo {
  std::string hash;         ///< hash of the text; pins and drops of the user refer to this hash
  std::string source;       ///< name of the document
  std::string place;        ///< place in the document, e.g. "page 3"; may be empty
  std::uint32_t level = 0;  ///< 0: text of the document; above 0: a summary
  std::string text;
  std::uint32_t rank = 0;         ///< from 1; 0: pinned without a rank
  double score = 0;               ///< score in the ranking; higher is better
  std::uint32_t lexicalRank = 0;  ///< rank by words; 0: not found by words
  double lexicalScore = 0;
  std::uint32_t embeddingRank = 0;  ///< rank by vectors; 0: not found by vectors
  double embeddingScore = 0;
  bool pinned = false;
  bool dropped = false;
  bool inPrompt = false;
  bool operator==(const PassageInfo&) const = default;
};
/// The passages that retrieval found for the augment at Event::node, before planning. The passages in the
/// prompt come first, in prompt order. Other passages follow, by rank.
struct PassagesRetrieved {
  std::string question;
  PassageRanking ranking = PassageRanking::Lexical;
  std::uint64_t documents = 0;  ///< number of searched documents
  std::vector<PassageInfo> passages;
  bool operator==(const PassagesRetrieved&) const = default;
};

/// A step became a request; `Event::request` is its id.
struct StepStarted {
  StepIndex step = 0;
  std::uint32_t copy = 0;
  bool operator==(const StepStarted&) const = default;
};
enum class StepOutcome : std::uint8_t {
  EndToken,
  TokenLimit,    ///< the max number of tokens
  ContextLimit,  ///< the model's context is full before the max number of tokens
  Stopped,
  Failed
};
/// Whether a limit ended the answer, so that it could have continued.
constexpr bool endedByLimit(StepOutcome outcome) {
  return outcome == StepOutcome::TokenLimit || outcome == StepOutcome::ContextLimit;
}
struct StepFinished {
  StepIndex step = 0;
  StepOutcome outcome = StepOutcome::EndToken;
  std::string text;
  bool operator==(const StepFinished&) const = default;
};

// ---- span tables -------------------------------------------------------------------------

enum class TokenSource : std::uint8_t { Template, Text, Output };
struct TokenRunInfo {
  std::int32_t count = 0;
  TokenSource source = TokenSource::Text;
  NodePath node;
  bool operator==(const TokenRunInfo&) const = default;
};
struct SegmentInfo {
  NodePath node;
  bool independent = false;
  bool hidden = false;
  std::uint32_t scope = 0;
  std::uint32_t depth = 0;
  std::int64_t base = 0;
  std::int32_t visibleBegin = 0;
  std::vector<std::uint32_t> sees;
  std::vector<TokenId> tokens;
  std::vector<std::string> texts;  ///< the displayed text of each token
  std::vector<TokenRunInfo> runs;
  bool operator==(const SegmentInfo&) const = default;
};
struct SpanTableLaidOut {
  SharedList<SegmentInfo> segments;  ///< shared with the states that contain it
  bool operator==(const SpanTableLaidOut&) const = default;
};

// ---- cache -------------------------------------------------------------------------------

enum class LookupOutcome : std::uint8_t {
  Hit,        ///< a hit at the stored start position
  Relocated,  ///< a hit at another start position
  Partial,    ///< the first `tokens` slots were hits and were copied; the other slots are computed
  Miss
};
/// The reason why a virtual block was not completely a hit.
enum class MissReason : std::uint8_t {
  None,            ///< the block was a hit
  NeverSeen,       ///< no similar block was ever stored after this parent
  TokensDiffer,    ///< the nearest stored block differs from token `differsAt` on
  ContextDiffers,  ///< the same tokens are stored, but attend to other segments
  Evicted,         ///< the block was stored, and the event `evictedBy` evicted it
  AfterMiss,       ///< an earlier block of its chain was a miss, so this block cannot be a hit
  LastToken,       ///< the whole block is stored, but the last token of a prompt is always computed
  CacheOff
};
struct BlockLookedUp {
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;  ///< index of the block in its segment
  /// For a hit, the block. For Partial, the source of the copy. For Miss, the nearest block.
  BlockId block = kNullBlock;
  LookupOutcome outcome = LookupOutcome::Miss;
  MissReason reason = MissReason::None;
  std::int32_t tokens = 0;      ///< token slots that were hits
  std::int32_t wanted = 0;      ///< token slots that were looked up
  std::int64_t base = 0;        ///< start position of the segment in this request
  std::int64_t storedBase = 0;  ///< start position at which the block was stored
  RunId storedByRun = 0;
  RequestId storedByRequest = 0;
  NodePath storedByNode;
  std::int32_t differsAt = -1;  ///< local token of the segment, for TokensDiffer
  TokenId tokenWanted = -1;
  TokenId tokenStored = -1;
  std::uint64_t evictedBy = 0;         ///< sequence number of the BlockRemoved event, for Evicted
  std::int32_t contextDiffersAt = -1;  ///< for ContextDiffers: first differing index in the list of attended
                                       ///< segments; −1: the same segments at another distance
  bool operator==(const BlockLookedUp&) const = default;
};
/// A free block was allocated for a virtual block. The reference count of the block becomes 1.
struct BlockAllocated {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  bool operator==(const BlockAllocated&) const = default;
};
/// A hit got one more reference. If the block was in the free list, it leaves the list.
struct BlockShared {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  std::int32_t references = 0;  ///< count after this event
  bool operator==(const BlockShared&) const = default;
};
/// Lookups can find the block from now on.
struct BlockStored {
  BlockId block = kNullBlock;
  BlockKey key;
  BlockKey parent;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  std::int64_t base = 0;
  std::vector<TokenId> tokens;
  bool operator==(const BlockStored&) const = default;
};
enum class RemovalReason : std::uint8_t { Evicted, Grown, Cleared };
/// Lookups can no longer find the block.
struct BlockRemoved {
  BlockId block = kNullBlock;
  BlockKey key;
  RemovalReason reason = RemovalReason::Evicted;
  bool operator==(const BlockRemoved&) const = default;
};
struct BlockCopied {
  BlockId source = kNullBlock;
  BlockId target = kNullBlock;
  std::int32_t slots = 0;
  bool operator==(const BlockCopied&) const = default;
};
/// The block has one reference fewer. At 0 references, the block joins the free list. A cached block joins at
/// the back, any other block at the front.
struct BlockReleased {
  BlockId block = kNullBlock;
  std::int32_t references = 0;  ///< count after this event
  bool operator==(const BlockReleased&) const = default;
};
struct CacheCleared {
  bool operator==(const CacheCleared&) const = default;
};
/// A place for keys and values outside of the pool.
enum class StoreTier : std::uint8_t { Host, Disk };
/// A tier of the span store filled a new block. The hit in the block's BlockLookedUp was in this tier, not in
/// the pool.
struct BlockLoaded {
  BlockId block = kNullBlock;
  BlockKey key;  ///< key of the requested content
  StoreTier tier = StoreTier::Host;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  std::int32_t tokens = 0;  ///< loaded token slots
  std::uint64_t bytes = 0;
  std::int64_t nanoseconds = 0;  ///< time for reading, checking and copying; 0: nothing was read
  bool operator==(const BlockLoaded&) const = default;
};
/// The content of a block was copied into a tier of the span store.
struct BlockSpilled {
  BlockId block = kNullBlock;
  BlockKey key;
  StoreTier tier = StoreTier::Host;
  std::int32_t tokens = 0;  ///< token slots
  std::uint64_t bytes = 0;
  bool operator==(const BlockSpilled&) const = default;
};
/// One tier of the span store.
struct StoreTierState {
  StoreTier tier = StoreTier::Host;
  std::uint64_t blocks = 0;  ///< full and partial blocks
  std::uint64_t tokens = 0;  ///< token slots
  std::uint64_t bytes = 0;   ///< bytes of these blocks, including names and padding
  std::uint64_t limit = 0;   ///< max bytes
  bool operator==(const StoreTierState&) const = default;
};
/// Blocks of the span store that are kept and removed together.
struct StoredPack {
  StoreTier tier = StoreTier::Host;
  std::string name;          ///< name of the file
  std::string model;         ///< the model's name when the blocks were stored
  bool ofThisModel = false;  ///< whether lookups of this session can find the blocks
  std::uint64_t blocks = 0;
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;
  std::int64_t age = 0;     ///< milliseconds since the blocks were stored
  std::int64_t unused = 0;  ///< milliseconds since one of the blocks was loaded or stored
  bool operator==(const StoredPack&) const = default;
};
/// The contents of the span store, at the start of a session and after each run.
struct StoreReported {
  std::vector<StoreTierState> tiers;  ///< the tiers in use
  std::vector<StoredPack> packs;      ///< the most recently used first; at most kMostPacksReported
  bool operator==(const StoreReported&) const = default;
};
inline constexpr std::size_t kMostPacksReported = 256;
/// The texts in a pack of the span store.
struct PackText {
  std::string name;  ///< StoredPack::name
  std::string text;  ///< a few words of each content: "Mira lives in Lisbon. · Tarek is a baker."
  bool operator==(const PackText&) const = default;
};
/// The known texts in the packs of the previous StoreReported.
struct StoreTextsReported {
  std::vector<PackText> packs;
  bool operator==(const StoreTextsReported&) const = default;
};
/// A request was admitted. The counts are the sums of its lookups.
struct RequestAdmitted {
  std::int64_t promptTokens = 0;  ///< all tokens; for a resumed request, including the tokens of its answer
  std::int64_t cachedTokens = 0;
  std::int64_t relocatedTokens = 0;
  bool resumed = false;               ///< whether the request ran before and was preempted
  std::int64_t recomputedTokens = 0;  ///< tokens that were computed before, have been evicted, and are now
                                      ///< recomputed
  bool operator==(const RequestAdmitted&) const = default;
};
/// A request has to wait. This event is sent once for each reason.
struct RequestDeferred {
  std::string reason;
  RequestId waitFor = 0;
  bool operator==(const RequestDeferred&) const = default;
};

/// A running request was preempted, so that an older request can continue. The preempted request waits for
/// its next admission. Lookups can find its blocks until they are evicted.
struct RequestPreempted {
  RequestId requester = 0;          ///< the request that needed a block
  std::int64_t blocks = 0;          ///< number of blocks that the preempted request referenced
  std::int64_t computedTokens = 0;  ///< tokens of its prompt and answer in these blocks
  bool operator==(const RequestPreempted&) const = default;
};

// ---- computing ---------------------------------------------------------------------------

struct BatchEntry {
  RequestId request = 0;
  std::uint32_t segment = 0;
  std::int32_t begin = 0;  ///< the first local token
  std::int32_t count = 0;  ///< rows
  bool decode = false;     ///< one generated token; otherwise a chunk of the prompt
  bool repeated = false;   ///< keys and values existed before, but were lost in a preemption or are copied
  bool operator==(const BatchEntry&) const = default;
};
/// A forward pass has ended. The forward pass took `nanoseconds` and ended at Event::time.
struct BatchComputed {
  std::vector<BatchEntry> entries;
  std::int64_t nanoseconds = 0;
  bool operator==(const BatchComputed&) const = default;
};
struct TokenGenerated {
  std::int32_t index = 0;  ///< 0 for the first token of the answer
  TokenId token = 0;
  std::string text;                ///< text that this token completed
  std::string shown;               ///< the displayed text of the token alone
  float probability = 0;           ///< probability of this token, before temperature and filters
  std::vector<float> segmentMass;  ///< attention mass per segment of the span table, mean over observed
                                   ///< layers and heads; empty if not observed
  bool operator==(const TokenGenerated&) const = default;
};
struct TokenAlternative {
  TokenId token = 0;
  std::string shown;      ///< the displayed text of the token alone
  float probability = 0;  ///< probability before temperature and filters
  bool operator==(const TokenAlternative&) const = default;
};
/// The most likely tokens at one position of an answer, the most likely first. This event comes just before
/// the event of the sampled token. The sampled token may be another token. The event is sent only on request.
struct TokenAlternatives {
  std::int32_t index = 0;  ///< as in TokenGenerated
  std::vector<TokenAlternative> tokens;
  bool operator==(const TokenAlternatives&) const = default;
};
/// The attention weights of one row, or the mean over the rows of a query block. The weights are by layer,
/// head and key segment. Sums over the answer are computed from these events. The event has two numbers of 4
/// bytes for each layer, head and attended segment. With 30 layers, 9 heads and 22 segments, a row takes 48
/// kB.
struct SegmentAttention {
  /// The index (as in TokenGenerated) of the token that was sampled from this row. −1: rows of the prompt.
  std::int32_t index = -1;
  std::uint32_t segment = 0;               ///< segment of the query block
  std::int32_t virtualIndex = 0;           ///< index of the query block in its segment
  std::int32_t row = -1;                   ///< local token of a single row; −1: all computed rows
  std::int32_t rows = 0;                   ///< number of averaged rows
  std::vector<std::uint32_t> keySegments;  ///< the attended segments, in prompt order; the row's own segment
                                           ///< comes last
  std::vector<std::int32_t> layers;        ///< the observed layers, ascending
  std::int32_t heads = 0;
  std::vector<float> mass;  ///< [layers][heads][keySegments]. The sum for each head is 1.
  /// By layer, head and key segment: the share of `mass` on the first attended token of the segment. For the
  /// first segment, this token is the first key of the prompt, the attention sink. Models attend to the
  /// attention sink if they need no information. An independent segment was computed without earlier tokens.
  /// The first token of such a segment can therefore also be an attention sink.
  std::vector<float> first;
  bool operator==(const SegmentAttention&) const = default;
};
/// The attention of one query block: the attention weight by head and range of keys, as the mean over rows. A
/// range is a key block, or a single key token on request.
struct AttentionMass {
  std::int32_t layer = 0;         ///< −1: the mean over all observed layers and heads, as a single head
  std::uint32_t segment = 0;      ///< segment of the query block
  std::int32_t virtualIndex = 0;  ///< index of the query block in its segment
  std::int32_t row = -1;          ///< local token of a requested single row; −1: all computed rows
  std::int32_t rows = 0;          ///< number of averaged rows
  std::vector<std::uint32_t> keySegments;  ///< the attended segments, in prompt order; the row's own segment
                                           ///< comes last
  std::int32_t keySpan = 0;                ///< tokens per range; the last range of a segment may have fewer
  std::vector<std::int32_t> keyBlocks;     ///< number of ranges of each segment
  std::int32_t heads = 0;
  std::vector<float> mass;  ///< [heads][sum of keyBlocks]; the sum for each head is 1
  bool operator==(const AttentionMass&) const = default;
};
/// Attention records were left out of the trace, because a run has a limit for these records. This event is
/// sent at the first missing record, and again at the end of the run. Counts begin at the start of the run.
struct AttentionLeftOut {
  std::uint64_t leftOut = 0;   ///< missing AttentionMass, SegmentAttention and PartAttention events
  std::uint64_t recorded = 0;  ///< events of these kinds in the trace
  std::uint64_t limit = 0;     ///< max bytes of attention records in a run
  bool operator==(const AttentionLeftOut&) const = default;
};
/// The model recomputed the tokens of a finished answer to record the attention of one layer in detail.
/// Event::request is the request of the answer. The result is in the following ReplayedMass events of this
/// request, up to its next AttentionReplayed. Each ReplayedMass has one row. Answers and cached blocks do not
/// change.
struct AttentionReplayed {
  std::int32_t layer = 0;
  std::int32_t head = -1;   ///< the only head in the result; −1: all heads
  bool singleKeys = false;  ///< By key token; otherwise by key block.
  /// Local token of the last segment from which the answer's first token was sampled.
  std::int32_t firstRow = 0;
  std::int32_t rows = 0;              ///< number of rows that follow, one per token of the answer
  std::int64_t cachedTokens = 0;      ///< prompt tokens with keys and values in the cache
  std::int64_t recomputedTokens = 0;  ///< prompt tokens that had been evicted and were recomputed
  bool operator==(const AttentionReplayed&) const = default;
};
/// One row of a replay; see AttentionReplayed.
struct ReplayedMass {
  std::int32_t index = 0;  ///< index of the answer's token that was sampled from this row
  AttentionMass mass;      ///< `layer` is the requested layer; one head or all
  bool operator==(const ReplayedMass&) const = default;
};
/// The recomputed tokens of a segment that is a copy of another segment.
struct RecomputedTokens {
  std::uint32_t segment = 0;
  std::vector<std::int32_t> tokens;  ///< local tokens, ascending
  bool operator==(const RecomputedTokens&) const = default;
};
/// The tokens that a policy recomputed for a request (blend, relay). The other tokens of these segments have
/// the keys and values of the copied segments.
struct TokensRecomputed {
  std::int32_t layer = 0;   ///< all tokens were computed up to this layer, to choose the tokens to recompute
  std::int64_t tokens = 0;  ///< number of tokens that could be chosen
  std::vector<RecomputedTokens> segments;  ///< segments with recomputed tokens
  bool operator==(const TokensRecomputed&) const = default;
};

/// One token of an answer: its probability with the policy, and with a full prefill of the same tokens.
struct FidelityToken {
  TokenId token = 0;       ///< the token of the answer
  double divergence = 0;   ///< KL(full ‖ policy) of the next-token distributions, nats; at least 0
  TokenId policyBest = 0;  ///< most likely token with the policy; of equally likely tokens, the lowest id
  TokenId fullBest = 0;    ///< most likely token with a full prefill
  double policyProbability = 0;  ///< probability of `token`, before temperature and filters
  double fullProbability = 0;
  bool operator==(const FidelityToken&) const = default;
};
/// How close a finished answer is to a full prefill. Event::request is the request of the answer. The model
/// computed the tokens of the answer twice, after all visible tokens of the prompt. The first computation
/// used the policy. The second computation used a plain causal mask at positions 0, 1, 2, ….
struct FidelityMeasured {
  std::int64_t promptTokens = 0;      ///< tokens before the answer, equal in both computations
  std::int64_t cachedTokens = 0;      ///< prompt tokens with keys and values in the cache
  std::int64_t recomputedTokens = 0;  ///< prompt tokens that had been evicted and were recomputed
  std::vector<FidelityToken> tokens;  ///< one per token of the answer
  std::vector<TokenId> fullAnswer;    ///< the greedy answer of a full prefill, at most as long as the answer
  std::string fullText;               ///< text of this answer; empty without a tokenizer
  bool sameText = false;              ///< whether the answer has this text
  std::int32_t attentionRows = 0;     ///< Number of compared rows, from the answer's first row on.
  /// By layer: the distance between the attention with the policy and with full prefill, 0 … √2. The distance
  /// is the L2 norm of the difference over single keys. The value is the mean over compared rows and heads.
  std::vector<double> attentionDeviation;
  bool operator==(const FidelityMeasured&) const = default;
};
/// One token of an answer: its probability in the session's arithmetic, and in f32.
struct ArithmeticToken {
  TokenId token = 0;       ///< the token of the answer
  double divergence = 0;   ///< KL(f32 ‖ arithmetic) of the next-token distributions, nats; at least 0
  TokenId best = 0;        ///< most likely token in the arithmetic; of equally likely tokens, the lowest id
  TokenId exactBest = 0;   ///< most likely token in f32
  double probability = 0;  ///< probability of `token`, before temperature and filters
  double exactProbability = 0;
  bool operator==(const ArithmeticToken&) const = default;
};
/// How close a full prefill in the session's arithmetic is to a full prefill in f32. Both prefills use the
/// tokens of an answer and the same weights. Event::request is the request of the answer. FidelityMeasured
/// compares the policy with the full prefill in the session's arithmetic. This event is sent only if the
/// arithmetic is not f32.
struct ArithmeticMeasured {
  std::string arithmetic;  ///< "fast"
  std::vector<ArithmeticToken> tokens;
  bool operator==(const ArithmeticMeasured&) const = default;
};
/// A group of requests that attend to each other's answers during generation, in prompt order. Each request
/// attends to its own prompt, then to the other answers in this order, then to its own answer. The event is
/// sent once, before the first token that attends to another answer.
struct TeamFormed {
  std::vector<RequestId> requests;
  bool operator==(const TeamFormed&) const = default;
};
/// The attention to the answers of other requests, from a row from which a token was sampled. The other
/// attention events do not include this attention.
struct TeammateAttention {
  std::int32_t index = 0;           ///< index of the token in the answer
  std::vector<RequestId> requests;  ///< the other requests of the group (TeamFormed)
  std::vector<float> mass;  ///< by request: attention mass on the answer of this request, mean over heads and
                            ///< observed layers, 0 … 1
  bool operator==(const TeammateAttention&) const = default;
};
/// The layout of a run, if the layout is not exact. Sent right after RunStarted.
struct LayoutChosen {
  std::string layout;          ///< "padded"
  std::int32_t blockSize = 0;  ///< tokens
  TokenId pad = 0;             ///< the token that fills up blocks
  TokenId plus = 0;            ///< the token that begins each child of a plus
  TokenId cross = 0;           ///< the token that begins the last child of a cross
  bool operator==(const LayoutChosen&) const = default;
};
/// The purpose of a token that the layout added to a prompt.
enum class LayoutRole : std::uint8_t { Pad, PlusMarker, CrossMarker };
struct LayoutRun {
  std::uint32_t segment = 0;
  std::int32_t begin = 0;  ///< local token
  std::int32_t count = 0;
  LayoutRole role = LayoutRole::Pad;
  bool operator==(const LayoutRun&) const = default;
};
/// The tokens of one message or answer that the layout truncated.
struct CroppedRun {
  std::int64_t before = 0;  ///< number of visible prompt tokens before the truncated tokens
  NodePath node;
  std::vector<TokenId> tokens;
  std::vector<std::string> texts;  ///< the displayed text of each token
  bool operator==(const CroppedRun&) const = default;
};
/// The changes of a layout that is not exact, in the span table of Event::request. Sent right after
/// SpanTableLaidOut. SpanTableLaidOut counts added tokens as tokens of the template.
struct LayoutApplied {
  std::vector<LayoutRun> runs;
  std::vector<CroppedRun> cropped;
  bool operator==(const LayoutApplied&) const = default;
};
/// A section of a prompt, as views show it; see layout::PromptPart.
struct PartInfo {
  NodePath node;        ///< the plus child, or the message
  bool inPlus = false;  ///< whether the section is in a plus
  bool operator==(const PartInfo&) const = default;
};
/// Tokens [begin, end) of a segment that belong to one section.
struct PartRange {
  std::uint32_t part = 0;  ///< index in PromptDivided::parts
  std::uint32_t segment = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool operator==(const PartRange&) const = default;
};
/// The sections of the prompt of Event::request. Sent right after its SpanTableLaidOut. The cache uses
/// segments; views show sections.
struct PromptDivided {
  std::vector<PartInfo> parts;  ///< in the order in which they begin
  /// Ascending by segment and begin. The ranges cover every segment, including hidden segments.
  std::vector<PartRange> ranges;
  bool operator==(const PromptDivided&) const = default;
};
/// The attention of a SegmentAttention, by section. The event is sent next to a SegmentAttention of a row
/// from which a token of the answer was sampled. The event is sent only if one of the attended segments
/// contains several sections. The event has two numbers of 4 bytes for each layer, head and section.
struct PartAttention {
  std::int32_t index = 0;               ///< index of the answer's token that was sampled from this row
  std::vector<std::uint32_t> keyParts;  ///< indices in PromptDivided::parts: the attended sections in prompt
                                        ///< order; the row's own section comes last
  std::vector<std::int32_t> layers;     ///< the observed layers, ascending
  std::int32_t heads = 0;
  std::vector<float> mass;   ///< [layers][heads][keyParts]; the sum for each head is 1
  std::vector<float> first;  ///< [layers][heads][keyParts]: the share of `mass` on the section's first token
  bool operator==(const PartAttention&) const = default;
};
struct StepMetrics {
  StepIndex step = 0;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< including relocated tokens
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;
  std::int64_t generatedTokens = 0;
  double timeToFirstToken = 0;   ///< seconds from the earliest possible start of the step
  double interTokenLatency = 0;  ///< mean seconds between generated tokens; 0 if there are fewer than two
  double queueTime = 0;          ///< seconds until admission
  std::int64_t preemptions = 0;  ///< number of times that the request was preempted
  std::int64_t recomputedTokens = 0;  ///< tokens recomputed after preemptions; `computedTokens` does not
                                      ///< include them
  bool operator==(const StepMetrics&) const = default;
};

struct MessageLogged {
  Severity severity = Severity::Note;
  std::string text;
  bool operator==(const MessageLogged&) const = default;
};

/// The attention windows of the model's layers. Sent at the beginning of each run if a layer has a window.
struct WindowsReported {
  /// By layer, the number of positions that a token attends to, including its own; 0: all.
  std::vector<std::int32_t> windows;
  bool operator==(const WindowsReported&) const = default;
};

// ---- servers -----------------------------------------------------------------------------

/// A server's report about cached prompt tokens. "0 reported" differs from "not reported".
enum class CachedState : std::uint8_t { Found, MeasuredZero, NotReported, CannotReport };

/// A server that answers steps of the run, with the server's description of itself. Sent before the first of
/// these steps.
struct ServerChosen {
  std::string name;              ///< the user's name for the server: "gpu-3"
  std::string kind;              ///< "vllm", "llama.cpp"
  std::string title;             ///< the name of this kind: "vLLM"
  std::string version;           ///< empty: not reported
  std::string address;           ///< without user names and keys
  bool reportsCached = false;    ///< whether the server reports cached tokens; false: never, or only if it is
                                 ///< configured for this
  bool reportsProgress = false;  ///< whether the server reports the progress of prompts
  bool takesQueries = false;     ///< whether the server has SPNL's endpoint
  bool operator==(const ServerChosen&) const = default;
};
/// The prompt of Event::request was sent.
struct RequestSent {
  std::string server;       ///< ServerChosen::name
  std::string model;        ///< the server's name for the model
  std::uint64_t bytes = 0;  ///< bytes of the body
  bool operator==(const RequestSent&) const = default;
};
/// The server's progress with the prompt of Event::request, in tokens: 0 ≤ cached ≤ processed ≤ total.
struct PromptReported {
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t processed = 0;  ///< including cached tokens
  bool operator==(const PromptReported&) const = default;
};
/// A piece of the answer arrived. A piece may have several tokens.
struct TextReceived {
  std::string text;
  bool operator==(const TextReceived&) const = default;
};
/// The server's report about Event::request, and the measurements of this program. Sent after the answer has
/// ended or was interrupted.
struct ServerReported {
  StepIndex step = 0;
  std::string server;                        ///< ServerChosen::name
  std::string model;                         ///< the server's name for the model
  std::optional<std::int64_t> promptTokens;  ///< nothing: not reported (also for the optional values below)
  CachedState cached = CachedState::NotReported;
  std::int64_t cachedTokens = 0;  ///< above 0 for Found, otherwise 0
  std::optional<std::int64_t> generatedTokens;
  std::optional<double> timeToFirstToken;  ///< seconds from the request to the first text; nothing: no text
                                           ///< arrived
  double seconds = 0;                      ///< seconds from the request to the end
  std::string finish;                      ///< reason of the end, as the server names it: "stop", "length"
  std::string brokenBy;                    ///< reason why the answer is incomplete; empty: complete
  bool isCachedKnown() const { return cached == CachedState::Found || cached == CachedState::MeasuredZero; }
  bool operator==(const ServerReported&) const = default;
};
/// A gateway passed Event::request to a server.
struct RequestPassed {
  std::optional<std::int64_t> slots;  ///< of the server (llama.cpp); nothing: not reported
  /// What RunStarted::queryJson lacks: "the request has tools". Empty: the query has the whole prompt.
  std::string missing;
  bool operator==(const RequestPassed&) const = default;
};

// ---- jobs --------------------------------------------------------------------------------

enum class JobOutcome : std::uint8_t { Finished, Stopped, Failed };
/// A value in the binary form of its own type (engine/trace/binary_codec.h).
struct PackedValue {
  Shared<std::string> bytes;  ///< empty: no value
  bool operator==(const PackedValue&) const = default;
};
/// A job other than a run has ended. Event::run and Event::request name the answer that the job is about. 0:
/// the job is about no answer of this trace. If the result has its own events, `result` is empty.
struct JobEnded {
  std::string kind;       ///< id of the kind: "next-token"
  PackedValue arguments;  ///< the kind's Arguments
  JobOutcome outcome = JobOutcome::Finished;
  std::string problem;  ///< reason of the failure; empty: the job did not fail
  PackedValue result;   ///< the kind's Result, possibly incomplete
  bool operator==(const JobEnded&) const = default;
};

/// The state after events that were lost because of a full queue.
struct Snapshot {
  PoolState pool;
  std::uint64_t lost = 0;  ///< events that were not delivered
  bool operator==(const Snapshot&) const = default;
};

using Payload =
    std::variant<SessionStarted, RunStarted, RunFinished, PlanMade, StepStarted, StepFinished,
                 SpanTableLaidOut, BlockLookedUp, BlockAllocated, BlockShared, BlockStored, BlockRemoved,
                 BlockCopied, BlockReleased, CacheCleared, RequestAdmitted, RequestDeferred, BatchComputed,
                 TokenGenerated, AttentionMass, StepMetrics, MessageLogged, Snapshot, PassagesRetrieved,
                 RequestPreempted, AttentionLeftOut, SegmentAttention, AttentionReplayed, ReplayedMass,
                 BlockLoaded, BlockSpilled, StoreReported, TokensRecomputed, FidelityMeasured, LayoutChosen,
                 LayoutApplied, TeamFormed, TeammateAttention, PromptDivided, PartAttention,
                 StoreTextsReported, WindowsReported, ArithmeticMeasured, ServerChosen, RequestSent,
                 PromptReported, TextReceived, ServerReported, TokenAlternatives, JobEnded, RequestPassed>;

struct Event {
  std::uint64_t sequence = 0;  ///< 1, 2, 3, … within a session, without gaps
  std::int64_t time = 0;       ///< nanoseconds since the start of the session, never decreasing
  std::uint32_t session = 0;
  RunId run = 0;          ///< 0: none
  RequestId request = 0;  ///< 0: none
  NodePath node;          ///< the query node; "": the root or no node
  Payload payload;
  bool operator==(const Event&) const = default;
};

/// Returns the name of an event: "block_stored", "token_generated", …
const char* eventName(const Payload& payload);

}  // namespace spanscope::trace
