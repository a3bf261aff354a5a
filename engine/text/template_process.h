// SPDX-License-Identifier: GPL-3.0-or-later
// Renders chat templates with Jinja in a separate program (template_renderer.py). Templates come from unknown
// sources: some never end, and some write without bound. Open this file to change limits for templates.
#pragma once

#include "engine/base/child_process.h"
#include "engine/base/error.h"
#include "engine/base/readable_file.h"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::text {

/// A message as templates read it.
struct TemplateMessage {
  std::string role;
  std::string content;
  /// A JSON object with further fields, e.g. {"reasoning_content": "…"}; empty: none. A field "content" or
  /// "role" replaces the member above.
  std::string fields = {};
};

struct TemplateConversation {
  std::vector<TemplateMessage> messages;
  bool generationPrompt = true;  ///< whether the text ends with the beginning of an answer
};

/// The result for one conversation: a text, or the reason why there is none.
struct Rendering {
  enum class Outcome {
    Text,
    Raised,  ///< the template refuses the conversation with raise_exception; `text` is its message
    Failed   ///< the template cannot be rendered; `text` is the reason in the words of Jinja
  };
  Outcome outcome = Outcome::Text;
  std::string text;

  bool isText() const { return outcome == Outcome::Text; }
};

/// Limits for one call of TemplateProcess::render().
struct TemplateLimits {
  std::size_t memory = std::size_t{512} << 20U;  ///< bytes of the helper program
  std::chrono::milliseconds time{1800};          ///< on the clock
  std::size_t output = std::size_t{64} << 20U;   ///< bytes of all texts
};

/// The helper program. The first call of render() starts it, and later calls use the same process. A process
/// that ends is started again. The process opens no file and no connection. Several threads may use one
/// object; the calls wait for each other.
class TemplateProcess {
 public:
  explicit TemplateProcess(TemplateLimits limits = {}) : m_limits(limits) {}

  /// Renders each conversation with the template. `variables` is a JSON object: further variables of the
  /// template, e.g. "bos_token" and "tools". Dates are kTemplateDate. Errors are:
  /// - A limit is exceeded. The process is then stopped.
  /// - The template is not a program of Jinja, or `variables` is not a JSON object.
  /// - There is no Python with Jinja (isMissing() is then true).
  /// - `stop` was requested.
  std::variant<std::vector<Rendering>, Error> render(std::string_view source, std::string_view variables,
                                                     std::span<const TemplateConversation> conversations,
                                                     const std::stop_token& stop = {});

  /// Whether the last call of render() found no Python with Jinja.
  bool isMissing() const;

  /// The number of the process, or 0. For tests.
  int processNumber() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Error> start();
  std::optional<Error> startWith(const std::string& python);
  std::optional<Error> send(std::string_view request, Clock::time_point last, const std::stop_token& stop);
  /// Reads to the next line end. An empty text: the process ended.
  std::variant<std::string, Error> receive(Clock::time_point last, const std::stop_token& stop);
  Error tooSlow();
  void end();

  TemplateLimits m_limits;
  mutable std::mutex m_mutex;
  ChildProcess m_process;
  Descriptor m_connection{-1};
  std::string m_received;  ///< bytes after the last line end
  std::optional<Error> m_missing;
  Clock::time_point m_missingSince;
};

/// The date that templates write in place of the current date. With the current date, every cached block
/// would be useless the next day. The constant is the fallback date of Llama's templates.
inline constexpr const char* kTemplateDate = "2024-07-26";

/// The interpreter of Python that the helper program uses, if this environment variable has a value.
/// Otherwise /usr/bin/python3, then each python3 of PATH.
inline constexpr const char* kPythonVariable = "SPANSCOPE_PYTHON";

/// The process that all templates of this program share.
TemplateProcess& sharedTemplateProcess();

}  // namespace spanscope::text
