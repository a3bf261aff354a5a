// SPDX-License-Identifier: GPL-3.0-or-later
// An answer of a server, streamed or not, in any protocol (protocol.h). The answer is untrusted. Some servers
// send errors with status 200, or whole texts in place of pieces. Two events can share one character. Open
// this file to read another field of an answer.
#pragma once

#include "engine/base/error.h"
#include "engine/remote/chat/server_facts.h"
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
  std::int64_t tokens = 0;  ///< more than 0 for Found
  /// Whether the server reports more cached tokens than the prompt has. The counts are then useless.
  bool isInconsistent = false;
  bool operator==(const CachedTokens&) const = default;
};

/// Returns "2624", "0", "not reported", "cannot be reported" or "inconsistent".
std::string cachedText(const CachedTokens& cached);

/// The progress of a prompt, in tokens (llama.cpp's `return_progress`).
struct PromptProgress {
  std::int64_t total = 0;
  std::int64_t cached = 0;
  std::int64_t processed = 0;  ///< includes cached tokens
  bool operator==(const PromptProgress&) const = default;
};

/// One answer, as far as it has arrived. addEvent() adds text and counts.
struct ChatAnswer {
  std::string text;
  std::string reasoning;   ///< text that a server reports as the model's reasoning, separate from the answer
  std::string refusal;     ///< the reason why there is no answer, in the words of the model
  std::string calls;       ///< names of tools that the model wants to call, "f, g"; none was offered
  std::string words;       ///< other text of the server, which may explain a missing end
  std::string noText;      ///< content that is not text: "the number 42"
  bool lacksText = false;  ///< whether `noText` has an unknown form, and may be a piece of the text
  std::string finish;      ///< the reason of the end: "stop", "length"; empty: not reported
  std::string model;       ///< the server's name for the model
  std::optional<std::int64_t> promptTokens;
  std::optional<std::int64_t> cachedTokens;
  std::optional<std::int64_t> writtenTokens;  ///< tokens of the prompt that the server stored in its cache
  std::optional<std::int64_t> generatedTokens;
  std::optional<PromptProgress> progress;  ///< the last progress
  std::optional<std::int64_t> choice;  ///< index of the choice of this answer; nothing: no text has arrived
  bool lacksChoices = false;           ///< the server sent an empty list of answers
  bool isDone = false;                 ///< "[DONE]" arrived, or the answer was one object
  std::string held;                    ///< bytes of an incomplete character.
  /// For requests of one choice: the first choice with another index than 0, whose text may be the answer. At
  /// most one.
  std::vector<ChatAnswer> others;

  /// Also true if the only choice has ended under another index than 0.
  bool hasEnded() const {
    return isDone || !finish.empty() || (!choice && !others.empty() && others.front().hasEnded());
  }
};

/// The text of one event for one of several answers.
struct AnswerText {
  std::size_t answer = 0;  ///< index
  std::string piece;       ///< not empty
};

/// The form of a protocol's answers. addEvent() reads the data that all servers share: events, keep-alives,
/// errors, "[DONE]", damaged JSON. Constants with the lifetime of the program.
struct AnswerForm {
  const char* title;  ///< the name of one answer: "a chat completion"
  const char* api;    ///< "OpenAI's chat completions"
  /// Whether an object has this form. A server may send another form than the client has requested.
  bool (*isOwn)(const nlohmann::json& value);
  /// Adds an object that reports no error. Returns false if the object has no piece of an answer. Throws
  /// Failure for a choice without an answer.
  bool (*take)(std::span<ChatAnswer> answers, const nlohmann::json& value, std::vector<AnswerText>& came);
};

/// Adds one event of a stream of answers. Each answer is a choice, identified by its index. The server counts
/// all answers together, and the first answer has these counts. `name` is the name of the event, usually
/// empty. Keep-alives are skipped. The first answer keeps other words that are no JSON. Throws the same
/// errors as AnswerForm::take(). Throws Failure for:
/// - damaged JSON, or another form;
/// - an event of another API;
/// - an error that the server reports.
std::vector<AnswerText> addEvent(const AnswerForm& form, std::span<ChatAnswer> answers, std::string_view data,
                                 std::string_view name = {});

/// For AnswerForm::take(): adds a piece of text. An incomplete character waits for the next piece. Returns
/// the new complete text. At the end of the text nothing waits.
std::string addText(ChatAnswer& answer, std::string_view piece, bool isEnd);

/// For AnswerForm::take(): no more data of the answers arrives. Adds the incomplete characters of the answers
/// to the texts.
void endAnswers(std::span<ChatAnswer> answers, std::vector<AnswerText>& came);

/// Uses the choice with another index if choice 0 has not arrived and no more data arrives. Returns the text
/// of this choice.
std::string takeOther(ChatAnswer& answer);

/// Returns the reason why an answer that has ended is not valid. Examples are a refusal, only reasoning, an
/// end by an error or a filter, only spaces, or no text. `mayBeEmpty`: whether an empty text is a valid
/// answer. Nothing: the answer is valid.
std::optional<Error> problemOf(const ChatAnswer& answer, bool mayBeEmpty = false);

/// Whether the model ended the answer. Accepts the finish reasons of all known servers.
bool isOwnEnd(std::string_view finish);

/// Whether the token limit ended the answer. Accepts the finish reasons of all known servers.
bool isTokenLimit(std::string_view finish);

/// Returns the cached tokens of the answer, as reported by servers of this kind.
CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind);
CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting);

/// Returns the message of an error on one line. The message is the title of a page or the beginning of the
/// text. Errors in JSON have these forms:
/// - {"error": {"message": …}}, {"error": "…"} or {"message": …};
/// - {"detail": [{"loc": …, "msg": …}]};
/// - a list of these.
std::string errorMessage(std::string_view body);

}  // namespace spanscope::remote
