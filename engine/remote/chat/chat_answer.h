// SPDX-License-Identifier: GPL-3.0-or-later
// What a server answers, streamed or not, in any protocol (protocol.h). It trusts nothing in the answer:
// errors come with status 200, texts come in place of pieces, and characters are divided between events.
#pragma once

#include "engine/base/error.h"
#include "engine/remote/chat/server_kind.h"
#include "engine/trace/event.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {

using trace::CachedState;

struct CachedTokens {
  CachedState state = CachedState::NotReported;
  std::int64_t tokens = 0;  ///< more than 0 if Found
  /// Whether the server counts more of them than the prompt has. Its counts mean nothing then.
  bool isInconsistent = false;
  bool operator==(const CachedTokens&) const = default;
};

/// "2624", "0", "not reported", "cannot be reported", "inconsistent"
std::string cachedText(const CachedTokens& cached);

/// The progress of a prompt, in its tokens (llama.cpp's `return_progress`).
struct PromptProgress {
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t processed = 0;  ///< those of the cache included
  bool operator==(const PromptProgress&) const = default;
};

/// One answer, as far as it came. Its parts are added with addEvent().
struct ChatAnswer {
  std::string text;
  std::string reasoning;   ///< what a server tells apart from the answer as the model's thoughts
  std::string refusal;     ///< why there is no answer, in the words of the model
  std::string calls;       ///< names of the tools that the model wants to call, which nobody offered: "f, g"
  std::string words;       ///< what the server said beside the answer; it may say why the answer has no end
  std::string noText;      ///< what came as content and is no text: "the number 42"
  bool lacksText = false;  ///< whether `noText` is of an unknown form, so that it may be a piece of the text
  std::string finish;      ///< why it ended: "stop", "length"; empty: not said
  std::string model;       ///< the server's name for it
  std::optional<std::int64_t> promptTokens;
  std::optional<std::int64_t> cachedTokens;
  std::optional<std::int64_t> writtenTokens;  ///< of the prompt, which the server put into its cache
  std::optional<std::int64_t> generatedTokens;
  std::optional<PromptProgress> progress;  ///< the last one
  std::optional<std::int64_t> choice;      ///< index of the choice that it is; none: nothing of it came
  bool lacksChoices = false;               ///< a list of answers came that was empty
  bool isDone = false;                     ///< "[DONE]" came, or the answer was one object
  std::string held;                        ///< bytes of a character whose other bytes are still to come
  /// Where one choice was asked for: the first that came with another index than 0, whose text may be the
  /// answer. At most one.
  std::vector<ChatAnswer> others;

  /// Also where the only choice that came has ended under another index than 0.
  bool hasEnded() const {
    return isDone || !finish.empty() || (!choice && !others.empty() && others.front().hasEnded());
  }
};

/// What came with one event for one of several answers.
struct AnswerText {
  std::size_t answer = 0;  ///< index
  std::string piece;       ///< not empty
};

/// How the answers of a protocol are written. What all servers have in common is read by addEvent(): events,
/// keep-alives, errors, "[DONE]", damaged JSON. Constants that live as long as the program.
struct AnswerForm {
  const char* title;  ///< of one answer: "a chat completion"
  const char* api;    ///< "OpenAI's chat completions"
  /// Whether an object is of this form; another may have been asked for.
  bool (*isOwn)(const nlohmann::json& value);
  /// Adds an object that reports no error. Returns false where it has nothing of an answer. Throws Failure
  /// for a choice without an answer.
  bool (*take)(std::span<ChatAnswer> answers, const nlohmann::json& value, std::vector<AnswerText>& came);
};

/// Adds one event of a stream of answers, each a choice of it by its index. What the server counts is of all
/// of them; the first has it. `name`: the event's, mostly empty. Keep-alives are skipped. Other words that
/// are no JSON are kept in the first answer. Throws Failure for JSON that is damaged or not of this form, for
/// an event of another API, for an error that the server reports in it, and as AnswerForm::take() does.
std::vector<AnswerText> addEvent(const AnswerForm& form, std::span<ChatAnswer> answers, std::string_view data,
                                 std::string_view name = {});

/// For AnswerForm::take(): adds a piece of text, of which a damaged character waits for the next piece.
/// Returns what is new and whole. At the end of the text nothing waits.
std::string addText(ChatAnswer& answer, std::string_view piece, bool isEnd);

/// For AnswerForm::take(): nothing more comes of the answers. Adds to the texts what is still held of them.
void endAnswers(std::span<ChatAnswer> answers, std::vector<AnswerText>& came);

/// Takes the choice of another index, where choice 0 has not come and nothing more is to come. Returns its
/// text.
std::string takeOther(ChatAnswer& answer);

/// Why an answer that has ended is none: a refusal, reasoning alone, an end by an error or a filter, blanks
/// alone, no text at all. `mayBeEmpty`: whether no text is an answer, too. Nothing: it is one.
std::optional<Error> problemOf(const ChatAnswer& answer, bool mayBeEmpty = false);

/// Whether the model ended an answer, in the words of different servers.
bool isOwnEnd(std::string_view finish);

/// Whether an answer was ended by its limit of tokens, in the words of different servers.
bool isTokenLimit(std::string_view finish);

/// What the answer says of the cache, as servers of this kind say it.
CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind);
CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting);

/// The message of an error: the words in any of the forms that servers use ({"error": {"message": …}},
/// {"error": "…"}, {"message": …}, {"detail": [{"loc": …, "msg": …}]}, a list of these), the title of a page,
/// or the beginning of the text. On one line.
std::string errorMessage(std::string_view body);

}  // namespace spanscope::remote
