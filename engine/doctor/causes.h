// SPDX-License-Identifier: GPL-3.0-or-later
// The causes of cache misses: a table with a sentence, an example, a cure and a rule for each. The rules are
// in the folder causes/. Open causes/cause_rows.h to add a cause.
#pragma once

#include "engine/doctor/logged_request.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

enum class CauseId : std::uint8_t {
  ModelChanged,
  OtherInput,
  Tools,
  HistoryCut,
  Template,
  WhiteSpace,
  KeyOrder,
  Time,
  RandomText,
  DocumentOrder,
  DocumentElsewhere,
  SystemEdited,
  MessageEdited,
  ShorterThanBlock,
  AfterLastBlock,
  Evicted,
  Expired,
  OtherSlot,
  NeverSeen,
  Unknown,
};

/// A place at which two requests differ.
struct Difference {
  enum class Change : std::uint8_t {
    Edited,    ///< the contents of the section differ
    Removed,   ///< the later request lacks messages of the earlier one
    Inserted,  ///< the later request has messages between those of the earlier one
    Permuted,  ///< the same messages in another order
    Rendered   ///< the contents are equal, but their tokens differ
  };
  Change change = Change::Edited;
  const LoggedRequest* before = nullptr;
  const LoggedRequest* now = nullptr;
  std::int32_t beforeSection = 0;
  std::int32_t nowSection = 0;
  std::string beforeText;
  std::string nowText;
  bool isSameConversation = false;
  bool isFirstOfHistory = false;   ///< the section is the first message after the system message
  bool isAtEnd = false;            ///< the section is the last message of the later request
  std::size_t repeatedTokens = 0;  ///< tokens of the section that earlier requests have at other places
};

/// Why two requests differ at a place.
struct Finding {
  CauseId cause = CauseId::Unknown;
  std::int32_t section = 0;
  std::string detail{};  ///< more about the cause, for the user: "reasoning dropped"; may be empty
  std::size_t at = 0;    ///< first differing byte of the section's text
  std::string before{};  ///< the changed text, without secrets
  std::string after{};
};

/// Servers count blocks of up to 128 tokens. A smaller difference of a reported count is no loss.
inline constexpr std::size_t kLeastReportedLoss = 256;

/// Returns the tokens of a prompt that the server surely reused by its report, in the counts of this program.
/// 0: not reported. These counts can be estimates, or lack sections that the server counts.
std::size_t surelyReused(const Usage& usage, std::size_t prompt);

/// Why the slot that llama-server chose can differ from the simulated slot.
enum class SlotDoubt : std::uint8_t {
  None,
  NoCount,      ///< the number of slots is not known
  Concurrent,   ///< requests ran at the same time, and the server reported no count that fits
  Contradicted  ///< the server reported another count of cached tokens
};

/// Facts about a lookup, for causes other than a difference of texts.
struct LookupFacts {
  bool hasEarlier = false;     ///< the log has earlier requests
  bool isExtension = false;    ///< the prompt goes on with new text where an earlier request ended
  bool isWholeKnown = false;   ///< an earlier request begins with all messages of the prompt
  bool sharesSection = false;  ///< a whole section is common with the best earlier request
  std::size_t prompt = 0;
  std::size_t common = 0;         ///< with the best earlier request
  std::size_t cached = 0;         ///< by the rules of the server; more if the server reported more
  std::size_t byRules = 0;        ///< by the rules alone
  std::size_t withoutLimits = 0;  ///< cached tokens of a server without limits
  std::size_t onServer = 0;       ///< the same, if only requests of its server count
  std::size_t alive = 0;          ///< common prefix within the time to live
  std::size_t block = 1;
  bool isLimited = false;      ///< a pool size or slots were given
  bool hasServers = false;     ///< the log names several servers
  bool isConcurrent = false;   ///< another request ran on the server at the same time
  bool isInOtherSlot = false;  ///< by the simulated slots; with a doubt, the tokens can be in another slot
  SlotDoubt doubt = SlotDoubt::None;
  std::string slot{};         ///< the chosen slot and its contents, for the user; empty: no slots
  std::string replica{};      ///< the slot or replica of the request in the log; empty: unknown
  std::string bestReplica{};  ///< the same of the best earlier request
  std::optional<std::int64_t> reported{};
  std::optional<std::int64_t> reportedPrompt{};

  /// The number of tokens as the server counts them. The counts here can be estimates, or of another
  /// tokenizer.
  std::size_t asReported(std::size_t tokens) const;
  /// Whether the server reported fewer cached tokens than `allowed`.
  bool isReportedLess(std::size_t allowed) const;
  /// Whether the server reported a count that is nearer to all known tokens than to those of the rules. Then
  /// the rules give a loss that did not happen.
  bool isContradicted() const;
};

struct Cause {
  CauseId id;
  const char* key;       ///< for JSON and CSV: "time"
  const char* name;      ///< for a table: "time or date"
  const char* sentence;  ///< for the user
  const char* example;
  const char* cure;  ///< the change that makes the prompt a hit; empty: none
  bool isEdit;       ///< the cure edits the prompts
  /// Whether this cause explains a difference of texts. `at`: first differing byte. Fills the finding.
  /// nullptr: the cause is no difference of texts.
  bool (*matches)(const Difference& difference, std::size_t at, Finding& finding);
  /// Whether this cause explains the misses of a lookup. nullptr: the cause is a difference of texts.
  bool (*explains)(const LookupFacts& facts, Finding& finding);
  /// Removes differences of this kind from both texts, so that the next one shows. Returns false if this
  /// fails. nullptr: the cause is about the whole section.
  bool (*remove)(Difference& difference, std::size_t at) = nullptr;
};

/// All causes in the order in which the rules are tried.
std::span<const Cause> causes();
const Cause& causeOf(CauseId id);

/// Returns the places at which a request differs from an earlier one, in the order of the prompt. New
/// messages at the end are no difference. The requests must outlive the result.
std::vector<Difference> differencesOf(const LoggedRequest& before, const LoggedRequest& now,
                                      bool isSameConversation);

/// Returns the paired message of `before`, or of its answer, for each message of `now`. Nothing: no pair.
std::vector<std::optional<std::size_t>> pairsOf(const LoggedRequest& before, const LoggedRequest& now);

/// Returns the causes of a difference. The first one is the cause of the first differing byte.
std::vector<Finding> findCauses(const Difference& difference);

/// Returns the cause of a miss, if the cause is no difference of texts. Nothing: there is no such
/// cause.
std::optional<Finding> findCause(const LookupFacts& facts);

/// Returns the documents of `now` in the order that they have in `before`, followed by the other texts.
/// Nothing: the texts do not share documents.
std::optional<std::string> reordered(std::string_view before, std::string_view now);

}  // namespace spanscope::doctor
