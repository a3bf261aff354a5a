// SPDX-License-Identifier: GPL-3.0-or-later
// The trace: the ordered event stream of a session, as plain values. Every view is drawn from it. Words
// follow vLLM's KV events where those exist. Each payload lists its fields once in event_rows/, in file
// order; the codec, the JSON form and the fingerprint of the file format are made from that list.
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

/// A session as it starts, or a recording that begins in its middle: what everything after builds on.
struct SessionStarted {
  std::string program;  ///< name and version
  std::string model;    ///< directory or shape
  std::string backend;  ///< device and instruction set
  std::int32_t threads = 0;
  std::int32_t layers = 0;
  std::int32_t heads = 0;
  PoolState pool;  ///< initial state
  bool operator==(const SessionStarted&) const = default;
};

struct RunStarted {
  std::string queryJson;  ///< canonical
  std::string policy;     ///< "prefix", "spans"; of a run on servers, their names: "vLLM on gpu-3"
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

enum class FragmentRanking : std::uint8_t { Lexical, Embedding, Hybrid };
/// A fragment of a document that an augment found.
struct FragmentInfo {
  std::string hash;         ///< of its text: what a person's choice is kept by
  std::string source;       ///< name of the document
  std::string place;        ///< in it, e.g. "page 3"; may be empty
  std::uint32_t level = 0;  ///< 0: text of the document; above: a summary
  std::string text;
  std::uint32_t rank = 0;         ///< from 1; 0: not ranked, but pinned
  double score = 0;               ///< of the ranking, higher is better
  std::uint32_t lexicalRank = 0;  ///< by words; 0: not found so
  double lexicalScore = 0;
  std::uint32_t embeddingRank = 0;  ///< by vectors; 0: not found so
  double embeddingScore = 0;
  bool pinned = false;
  bool dropped = false;
  bool inPrompt = false;
  bool operator==(const FragmentInfo&) const = default;
};
/// What retrieval found for the augment at Event::node, before the plan was made: first what is in the
/// prompt, in its order there, then others by rank.
struct FragmentsRetrieved {
  std::string question;
  FragmentRanking ranking = FragmentRanking::Lexical;
  std::uint64_t documents = 0;  ///< that were searched
  std::vector<FragmentInfo> fragments;
  bool operator==(const FragmentsRetrieved&) const = default;
};

/// A step became a request; `Event::request` is its id.
struct StepStarted {
  StepIndex step = 0;
  std::uint32_t copy = 0;
  bool operator==(const StepStarted&) const = default;
};
enum class StepOutcome : std::uint8_t {
  EndToken,
  TokenLimit,    ///< as many tokens as it may have
  ContextLimit,  ///< fewer than that, but the model's context is full
  Stopped,
  Failed
};
/// Whether the reply might have gone on.
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
  std::vector<std::string> texts;  ///< how each token is shown
  std::vector<TokenRunInfo> runs;
  bool operator==(const SegmentInfo&) const = default;
};
struct SpanTableLaidOut {
  SharedList<SegmentInfo> segments;  ///< shared by the states that hold it
  bool operator==(const SpanTableLaidOut&) const = default;
};

// ---- cache -------------------------------------------------------------------------------

enum class LookupOutcome : std::uint8_t {
  Hit,        ///< found, at the base position it was stored at
  Relocated,  ///< found, at another base position
  Partial,    ///< its first `tokens` slots were found and copied, the rest is computed
  Miss
};
/// Why a virtual block was not wholly found.
enum class MissReason : std::uint8_t {
  None,            ///< it was
  NeverSeen,       ///< nothing like it was ever stored under this parent
  TokensDiffer,    ///< the nearest stored block differs from token `differsAt` on
  ContextDiffers,  ///< the same tokens are stored, but seeing something else
  Evicted,         ///< it was stored; event `evictedBy` took it
  AfterMiss,  ///< an earlier block of its chain is missing, so its content is not determined by the cache
  LastToken,  ///< all of it is stored, but the last token of a prompt is always computed
  CacheOff
};
struct BlockLookedUp {
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;  ///< in its segment
  BlockId block =
      kNullBlock;  ///< the block that was found or, for Partial, copied from; for Miss the nearest one
  LookupOutcome outcome = LookupOutcome::Miss;
  MissReason reason = MissReason::None;
  std::int32_t tokens = 0;      ///< token slots that were found
  std::int32_t wanted = 0;      ///< token slots that were looked for
  std::int64_t base = 0;        ///< base position of the segment in this view
  std::int64_t storedBase = 0;  ///< and the one at which it was stored
  RunId storedByRun = 0;
  RequestId storedByRequest = 0;
  NodePath storedByNode;
  std::int32_t differsAt = -1;  ///< local token of the segment, for TokensDiffer
  TokenId tokenWanted = -1;
  TokenId tokenStored = -1;
  std::uint64_t evictedBy = 0;         ///< sequence number of the BlockRemoved event, for Evicted
  std::int32_t contextDiffersAt = -1;  ///< index in the list of seen segments, for ContextDiffers;
                                       ///< −1 there: the same is seen, but from another position
  bool operator==(const BlockLookedUp&) const = default;
};
/// A free block was taken for a virtual block; its references become 1.
struct BlockAllocated {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  bool operator==(const BlockAllocated&) const = default;
};
/// One more reference on a block that was found; it leaves the free list if it stood there.
struct BlockShared {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  std::int32_t references = 0;  ///< after
  bool operator==(const BlockShared&) const = default;
};
/// The block can be found from now on.
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
/// The block cannot be found any more.
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
/// One reference fewer; at 0 the block joins the free list, at its front if it is not cached, else at its
/// back.
struct BlockReleased {
  BlockId block = kNullBlock;
  std::int32_t references = 0;  ///< after
  bool operator==(const BlockReleased&) const = default;
};
struct CacheCleared {
  bool operator==(const CacheCleared&) const = default;
};
/// Where keys and values lie that have left the pool, or will be needed after the program has ended.
enum class StoreTier : std::uint8_t { Host, Disk };
/// Keys and values came from a tier of the span store into a block that had just been allocated: what its
/// BlockLookedUp found was a hit of that tier and not of the pool.
struct BlockLoaded {
  BlockId block = kNullBlock;
  BlockKey key;  ///< of the content that was wanted
  StoreTier tier = StoreTier::Host;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;
  std::int32_t tokens = 0;  ///< token slots that were loaded
  std::uint64_t bytes = 0;
  std::int64_t nanoseconds = 0;  ///< reading, checking and copying; 0 where none of it was done
  bool operator==(const BlockLoaded&) const = default;
};
/// A copy of what stands in a block went into a tier of the span store.
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
  std::uint64_t blocks = 0;  ///< blocks and tails
  std::uint64_t tokens = 0;  ///< token slots
  std::uint64_t bytes = 0;   ///< that they take, names and padding included
  std::uint64_t limit = 0;   ///< most bytes
  bool operator==(const StoreTierState&) const = default;
};
/// Blocks of the span store that are kept and given up together.
struct StoredPack {
  StoreTier tier = StoreTier::Host;
  std::string name;          ///< of the file
  std::string model;         ///< what it was called when they were stored
  bool ofThisModel = false;  ///< this session can find them
  std::uint64_t blocks = 0;
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;
  std::int64_t age = 0;     ///< milliseconds since they were stored
  std::int64_t unused = 0;  ///< milliseconds since one of them was loaded or stored
  bool operator==(const StoredPack&) const = default;
};
/// What the span store holds, at the start of a session and after each run.
struct StoreReported {
  std::vector<StoreTierState> tiers;  ///< those that are in use
  std::vector<StoredPack> packs;      ///< the last used first; no more than kMostPacksReported
  bool operator==(const StoreReported&) const = default;
};
inline constexpr std::size_t kMostPacksReported = 256;
/// What stands in a pack of the span store.
struct PackText {
  std::string name;  ///< StoredPack::name
  std::string text;  ///< a few words of each of its contents, "Mira lives in Lisbon. · Tarek is a baker."
  bool operator==(const PackText&) const = default;
};
/// What stands in the packs that the StoreReported before it names, as far as that is known.
struct StoreTextsReported {
  std::vector<PackText> packs;
  bool operator==(const StoreTextsReported&) const = default;
};
/// A request was admitted: the sums of its lookups.
struct RequestAdmitted {
  std::int64_t promptTokens = 0;  ///< tokens there were; of a resumed request those of its reply included
  std::int64_t cachedTokens = 0;
  std::int64_t relocatedTokens = 0;
  bool resumed = false;               ///< it ran before and was preempted
  std::int64_t recomputedTokens = 0;  ///< computed before that, evicted since, and computed again now
  bool operator==(const RequestAdmitted&) const = default;
};
/// A request has to wait; sent once for each reason.
struct RequestDeferred {
  std::string reason;
  RequestId waitFor = 0;
  bool operator==(const RequestDeferred&) const = default;
};

/// A running request gave its blocks back, so that an older one can go on; it waits to be admitted again. Its
/// blocks stay to be found until they are evicted.
struct RequestPreempted {
  RequestId requester = 0;          ///< who needed a block
  std::int64_t blocks = 0;          ///< that it referred to
  std::int64_t computedTokens = 0;  ///< of prompt and reply, that stood in them
  bool operator==(const RequestPreempted&) const = default;
};

// ---- computing ---------------------------------------------------------------------------

struct BatchEntry {
  RequestId request = 0;
  std::uint32_t segment = 0;
  std::int32_t begin = 0;  ///< first local token
  std::int32_t count = 0;  ///< rows
  bool decode = false;     ///< one generated token; else a prefill chunk
  bool repeated = false;   ///< its keys and values were there before: lost to a preemption, or copied
  bool operator==(const BatchEntry&) const = default;
};
/// One forward pass, after it ended. Its duration is `nanoseconds`; Event::time is its end.
struct BatchComputed {
  std::vector<BatchEntry> entries;
  std::int64_t nanoseconds = 0;
  bool operator==(const BatchComputed&) const = default;
};
struct TokenGenerated {
  std::int32_t index = 0;  ///< 0 for the first token of the reply
  TokenId token = 0;
  std::string text;                ///< text that became complete with it
  std::string shown;               ///< how the token alone is shown
  float probability = 0;           ///< of this token before temperature and filters
  std::vector<float> segmentMass;  ///< attention mass per segment of the span table, mean over observed
                                   ///< layers and heads; empty unless observed
  bool operator==(const TokenGenerated&) const = default;
};
struct TokenAlternative {
  TokenId token = 0;
  std::string shown;      ///< how the token alone is shown
  float probability = 0;  ///< before temperature and filters
  bool operator==(const TokenAlternative&) const = default;
};
/// The likeliest tokens for a place of a reply, likeliest first. Told just before the token that was drawn
/// there, which need not be among them; only where they were asked for.
struct TokenAlternatives {
  std::int32_t index = 0;  ///< as in TokenGenerated
  std::vector<TokenAlternative> tokens;
  bool operator==(const TokenAlternatives&) const = default;
};
/// Where one row looked, or on average the rows of one query block: the attention weight by layer, head and
/// segment of the keys. The sums of what an answer read are made from it. Two numbers of 4 bytes for each
/// layer, head and segment seen: 48 kB a row at 30 layers, 9 heads and 22 segments.
struct SegmentAttention {
  /// Of the reply's token that was drawn from this row, as in TokenGenerated; −1: none, rows of the prompt.
  std::int32_t index = -1;
  std::uint32_t segment = 0;               ///< of the query block
  std::int32_t virtualIndex = 0;           ///< of the query block, in its segment
  std::int32_t row = -1;                   ///< local token, where it is a single row; −1: all rows computed
  std::int32_t rows = 0;                   ///< rows that were averaged
  std::vector<std::uint32_t> keySegments;  ///< the segments seen, in view order, its own last
  std::vector<std::int32_t> layers;        ///< the layers observed, ascending
  std::int32_t heads = 0;
  std::vector<float> mass;  ///< [layers][heads][keySegments]; each head's row sums to 1
  /// [layers][heads][keySegments]: of `mass`, the part on the first token that is seen of the segment. The
  /// one of the first segment lies on the first key of the view, the attention sink, which models look at
  /// when they look for nothing. An independent segment was computed with nothing before it, so that its
  /// first token can be such a sink as well.
  std::vector<float> first;
  bool operator==(const SegmentAttention&) const = default;
};
/// Attention of one query block: for each stretch of keys the mean over its rows of the attention weight, per
/// head. A stretch is a key block, or a single key token where every token was asked for.
struct AttentionMass {
  std::int32_t layer = 0;         ///< −1: the mean over all observed layers and heads, as the only head
  std::uint32_t segment = 0;      ///< of the query block
  std::int32_t virtualIndex = 0;  ///< of the query block, in its segment
  std::int32_t row = -1;          ///< local token, where a single row was asked for; −1: all rows computed
  std::int32_t rows = 0;          ///< rows that were averaged
  std::vector<std::uint32_t> keySegments;  ///< the segments seen, in view order, its own last
  std::int32_t keySpan = 0;                ///< tokens of a stretch; the last one of a segment may have fewer
  std::vector<std::int32_t> keyBlocks;     ///< stretches of each of them
  std::int32_t heads = 0;
  std::vector<float> mass;  ///< [heads][sum of keyBlocks]; each head's row sums to 1
  bool operator==(const AttentionMass&) const = default;
};
/// Attention that was to be recorded and is not in the trace, because a run may fill only so much of it. Sent
/// when the first is left out and again at the end of the run; counts from the run's start.
struct AttentionLeftOut {
  std::uint64_t leftOut = 0;   ///< AttentionMass, SegmentAttention and PartAttention events that are missing
  std::uint64_t recorded = 0;  ///< and that are there
  std::uint64_t limit = 0;     ///< bytes of attention a run may record
  bool operator==(const AttentionLeftOut&) const = default;
};
/// A finished reply was put through the model once more, its tokens given, to see the attention of one layer
/// more closely; Event::request is the request that gave the reply. The ReplayedMass events that follow for
/// that request, up to its next AttentionReplayed, are what was seen, a row each. Replies and blocks that can
/// be found stay as they are.
struct AttentionReplayed {
  std::int32_t layer = 0;
  std::int32_t head = -1;   ///< the only one that follows; −1: all
  bool singleKeys = false;  ///< by key token; else by key block
  std::int32_t firstRow =
      0;                  ///< local token of the last segment from which the reply's first token was drawn
  std::int32_t rows = 0;  ///< rows that follow: one a token of the reply
  std::int64_t cachedTokens = 0;      ///< of the prompt, whose keys and values were still there
  std::int64_t recomputedTokens = 0;  ///< and those that had been evicted and were computed again
  bool operator==(const AttentionReplayed&) const = default;
};
/// One row of a replay; see AttentionReplayed.
struct ReplayedMass {
  std::int32_t index = 0;  ///< of the reply's token that was drawn from this row
  AttentionMass mass;      ///< `layer` is the one asked for; one head or all
  bool operator==(const ReplayedMass&) const = default;
};
/// Of one segment that repeats another the tokens that were computed again, in view of what it sees.
struct RecomputedTokens {
  std::uint32_t segment = 0;
  std::vector<std::int32_t> tokens;  ///< local ones, ascending
  bool operator==(const RecomputedTokens&) const = default;
};
/// Which tokens a policy computed again for a request (blend, relay); the other tokens of these segments have
/// the keys and values of the segments that they repeat.
struct TokensRecomputed {
  std::int32_t layer = 0;                  ///< up to which all of them were computed, to choose by
  std::int64_t tokens = 0;                 ///< among which they were chosen
  std::vector<RecomputedTokens> segments;  ///< that have any
  bool operator==(const TokensRecomputed&) const = default;
};

/// How one token of a reply came about, beside what a full prefill of the same tokens makes of its place.
struct FidelityToken {
  TokenId token = 0;             ///< of the reply
  double divergence = 0;         ///< KL(full ‖ policy) of the next-token distributions, nats; at least 0
  TokenId policyBest = 0;        ///< the likeliest token as the policy has it, of equal ones the lowest id
  TokenId fullBest = 0;          ///< and of a full prefill
  double policyProbability = 0;  ///< of `token`, before temperature and filters
  double fullProbability = 0;
  bool operator==(const FidelityToken&) const = default;
};
/// How close a finished reply is to a full prefill; Event::request is the request that gave it. Its tokens
/// were put through the model twice after everything that the prompt shows, in view order: as its policy has
/// it, and under a plain causal mask at positions 0, 1, 2, …
struct FidelityMeasured {
  std::int64_t promptTokens = 0;      ///< tokens before the reply, the same in both
  std::int64_t cachedTokens = 0;      ///< of the prompt, whose keys and values were still there
  std::int64_t recomputedTokens = 0;  ///< and those that had been evicted and were computed again
  std::vector<FidelityToken> tokens;  ///< one a token of the reply
  std::vector<TokenId> fullAnswer;    ///< what a full prefill says greedily, at most as long as the reply
  std::string fullText;               ///< of it; empty where there is no tokenizer
  bool sameText = false;              ///< the reply's tokens read as that text
  std::int32_t attentionRows = 0;     ///< rows, from the reply's first, whose attention was compared
  /// By layer, the mean over those rows and all heads of the L2 norm of the difference between the attention
  /// of policy and full prefill on every single key; 0 … √2.
  std::vector<double> attentionDeviation;
  bool operator==(const FidelityMeasured&) const = default;
};
/// What the arithmetic of a session makes of the place of one token of a reply, beside f32.
struct ArithmeticToken {
  TokenId token = 0;       ///< of the reply
  double divergence = 0;   ///< KL(f32 ‖ arithmetic) of the next-token distributions, nats; at least 0
  TokenId best = 0;        ///< the likeliest token under the arithmetic, of equal ones the lowest id
  TokenId exactBest = 0;   ///< and in f32
  double probability = 0;  ///< of `token`, before temperature and filters
  double exactProbability = 0;
  bool operator==(const ArithmeticToken&) const = default;
};
/// How close a full prefill of a reply's tokens under the arithmetic of its session is to one in f32, both
/// with the same weights; Event::request is the request that gave the reply. What its policy departs from the
/// first of the two is FidelityMeasured. Told of sessions under another arithmetic than f32.
struct ArithmeticMeasured {
  std::string arithmetic;  ///< "fast"
  std::vector<ArithmeticToken> tokens;
  bool operator==(const ArithmeticMeasured&) const = default;
};
/// Requests that see each other's replies as they are written, in the order of their places: each reads its
/// own prompt, then what the others have generated in this order, then its own reply. Sent once, before the
/// first token that read any of it.
struct TeamFormed {
  std::vector<RequestId> requests;
  bool operator==(const TeamFormed&) const = default;
};
/// What the row that a token of a reply was drawn from looked at in the replies of others, which the other
/// events on attention leave out.
struct TeammateAttention {
  std::int32_t index = 0;           ///< of the token in the reply
  std::vector<RequestId> requests;  ///< the others of the team
  std::vector<float> mass;          ///< on each of them: mean over heads and observed layers, 0 … 1
  bool operator==(const TeammateAttention&) const = default;
};
/// The layout of a run whose prompts are not the chat template's text; sent right after RunStarted. A run
/// without it has the exact one.
struct LayoutChosen {
  std::string layout;          ///< "padded"
  std::int32_t blockSize = 0;  ///< tokens
  TokenId pad = 0;             ///< fills up blocks
  TokenId plus = 0;            ///< begins each child of a plus
  TokenId cross = 0;           ///< begins the last child of a cross
  bool operator==(const LayoutChosen&) const = default;
};
/// What a token is for that only the layout put into a prompt.
enum class LayoutRole : std::uint8_t { Pad, PlusMarker, CrossMarker };
struct LayoutRun {
  std::uint32_t segment = 0;
  std::int32_t begin = 0;  ///< local token
  std::int32_t count = 0;
  LayoutRole role = LayoutRole::Pad;
  bool operator==(const LayoutRun&) const = default;
};
/// What the layout took away from one message or reply.
struct CroppedRun {
  std::int64_t before = 0;  ///< visible tokens of the prompt, in view order, that stand before its place
  NodePath node;
  std::vector<TokenId> tokens;
  std::vector<std::string> texts;  ///< how each token is shown
  bool operator==(const CroppedRun&) const = default;
};
/// What a layout that is not exact did to the span table of Event::request; sent right after its
/// SpanTableLaidOut, in which these tokens count as the template's.
struct LayoutApplied {
  std::vector<LayoutRun> runs;
  std::vector<CroppedRun> cropped;
  bool operator==(const LayoutApplied&) const = default;
};
/// A part of a prompt as a person reads it, see layout::PromptPart.
struct PartInfo {
  NodePath node;        ///< the plus child, or the message
  bool inPlus = false;  ///< whether it stands in a plus
  bool operator==(const PartInfo&) const = default;
};
/// Tokens [begin, end) of a segment, which belong to one part.
struct PartRange {
  std::uint32_t part = 0;  ///< index in PromptDivided::parts
  std::uint32_t segment = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  bool operator==(const PartRange&) const = default;
};
/// The parts of the prompt of Event::request; sent right after its SpanTableLaidOut. Segments are what the
/// cache sees, parts are what a person sees.
struct PromptDivided {
  std::vector<PartInfo> parts;  ///< in the order in which they begin
  std::vector<PartRange>
      ranges;  ///< ascending by segment and begin; they cover every segment, hidden ones too
  bool operator==(const PromptDivided&) const = default;
};
/// The same as SegmentAttention, by part: sent beside it for a row from which a token of the reply was drawn,
/// if a segment that the row sees holds more than one part. Four bytes twice for each layer, head and part.
struct PartAttention {
  std::int32_t index = 0;               ///< of the reply's token that was drawn from this row
  std::vector<std::uint32_t> keyParts;  ///< the parts seen, in view order, the row's own last; indices in
                                        ///< PromptDivided::parts
  std::vector<std::int32_t> layers;     ///< the layers observed, ascending
  std::int32_t heads = 0;
  std::vector<float> mass;   ///< [layers][heads][keyParts]; each head's row sums to 1
  std::vector<float> first;  ///< [layers][heads][keyParts]: of `mass`, what lies on the part's first token
  bool operator==(const PartAttention&) const = default;
};
struct StepMetrics {
  StepIndex step = 0;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< relocated ones included
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;
  std::int64_t generatedTokens = 0;
  double timeToFirstToken = 0;   ///< seconds from the moment the step could start
  double interTokenLatency = 0;  ///< mean seconds between generated tokens; 0 if there are fewer than two
  double queueTime = 0;          ///< seconds until admission
  std::int64_t preemptions = 0;  ///< how often it gave its blocks back
  std::int64_t recomputedTokens = 0;  ///< computed again after that, which `computedTokens` does not count
  bool operator==(const StepMetrics&) const = default;
};

struct MessageLogged {
  Severity severity = Severity::Note;
  std::string text;
  bool operator==(const MessageLogged&) const = default;
};

/// What layers of the session's model see, told at the beginning of each run where any of them has a window.
struct WindowsReported {
  /// By layer, how many positions of the view a token sees, itself included; 0: all.
  std::vector<std::int32_t> windows;
  bool operator==(const WindowsReported&) const = default;
};

// ---- servers -----------------------------------------------------------------------------

/// What is known of the tokens of a prompt that a server found in its cache. "Found none" and "did not say"
/// are two things.
enum class CachedState : std::uint8_t { Found, MeasuredZero, NotReported, CannotReport };

/// A server that answers steps of the run, as it told of itself; sent before the first of them.
struct ServerChosen {
  std::string name;              ///< by which a person knows it: "gpu-3"
  std::string kind;              ///< "vllm", "llama.cpp"
  std::string title;             ///< of that kind: "vLLM"
  std::string version;           ///< empty: not said
  std::string address;           ///< without user names and keys
  bool reportsCached = false;    ///< how many tokens it found; false: never, or only if it is set up so
  bool reportsProgress = false;  ///< of prompts
  bool takesQueries = false;     ///< SPNL's endpoint
  bool operator==(const ServerChosen&) const = default;
};
/// The prompt of Event::request was sent.
struct RequestSent {
  std::string server;       ///< ServerChosen::name
  std::string model;        ///< the server's name for it
  std::uint64_t bytes = 0;  ///< of the body
  bool operator==(const RequestSent&) const = default;
};
/// How far the server is with the prompt of Event::request, in tokens: 0 ≤ cached ≤ processed ≤ total.
struct PromptReported {
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t processed = 0;  ///< those of the cache included
  bool operator==(const PromptReported&) const = default;
};
/// A piece of the reply came; servers need not send one token at a time.
struct TextReceived {
  std::string text;
  bool operator==(const TextReceived&) const = default;
};
/// What a server said of Event::request when its answer had ended or broken off, and what was measured here
/// meanwhile.
struct ServerReported {
  StepIndex step = 0;
  std::string server;                        ///< ServerChosen::name
  std::string model;                         ///< the server's name for it
  std::optional<std::int64_t> promptTokens;  ///< none: not said, as with all that follows
  CachedState cached = CachedState::NotReported;
  std::int64_t cachedTokens = 0;  ///< more than 0 if Found, else 0
  std::optional<std::int64_t> generatedTokens;
  std::optional<double> timeToFirstToken;  ///< seconds from sending to the first text; none: none came
  double seconds = 0;                      ///< from sending to the end
  std::string finish;                      ///< why the answer ended, in the server's word: "stop", "length"
  std::string brokenBy;                    ///< why it has no end; empty: it has one
  bool isCachedKnown() const { return cached == CachedState::Found || cached == CachedState::MeasuredZero; }
  bool operator==(const ServerReported&) const = default;
};

// ---- jobs --------------------------------------------------------------------------------

enum class JobOutcome : std::uint8_t { Finished, Stopped, Failed };
/// A value in the binary form of its own type (engine/trace/packed_value.h).
struct PackedValue {
  Shared<std::string> bytes;  ///< empty: none
  bool operator==(const PackedValue&) const = default;
};
/// A job that is no run has ended. Event::run and Event::request name the answer that it is about; 0: it is
/// about no answer of this trace. A kind of job whose result has events of its own leaves `result` empty.
struct JobEnded {
  std::string kind;       ///< id of the kind: "next-token"
  PackedValue arguments;  ///< the kind's Arguments
  JobOutcome outcome = JobOutcome::Finished;
  std::string problem;  ///< why it failed; empty: it did not
  PackedValue result;   ///< the kind's Result: what was computed until it ended
  bool operator==(const JobEnded&) const = default;
};

/// Stands where events were lost to a full queue: the state from which to go on.
struct Snapshot {
  PoolState pool;
  std::uint64_t lost = 0;  ///< events that were not delivered
  bool operator==(const Snapshot&) const = default;
};

using Payload =
    std::variant<SessionStarted, RunStarted, RunFinished, PlanMade, StepStarted, StepFinished,
                 SpanTableLaidOut, BlockLookedUp, BlockAllocated, BlockShared, BlockStored, BlockRemoved,
                 BlockCopied, BlockReleased, CacheCleared, RequestAdmitted, RequestDeferred, BatchComputed,
                 TokenGenerated, AttentionMass, StepMetrics, MessageLogged, Snapshot, FragmentsRetrieved,
                 RequestPreempted, AttentionLeftOut, SegmentAttention, AttentionReplayed, ReplayedMass,
                 BlockLoaded, BlockSpilled, StoreReported, TokensRecomputed, FidelityMeasured, LayoutChosen,
                 LayoutApplied, TeamFormed, TeammateAttention, PromptDivided, PartAttention,
                 StoreTextsReported, WindowsReported, ArithmeticMeasured, ServerChosen, RequestSent,
                 PromptReported, TextReceived, ServerReported, TokenAlternatives, JobEnded>;

struct Event {
  std::uint64_t sequence = 0;  ///< counts from 1 within a session, without gaps
  std::int64_t time = 0;       ///< nanoseconds since the session started, never decreasing
  std::uint32_t session = 0;
  RunId run = 0;          ///< 0: none
  RequestId request = 0;  ///< 0: none
  NodePath node;          ///< "" also where there is none
  Payload payload;
  bool operator==(const Event&) const = default;
};

/// "block_stored", "token_generated", …
const char* eventName(const Payload& payload);

}  // namespace spanscope::trace
