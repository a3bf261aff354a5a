// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the templates that Jinja renders, and compares them with the table of chat templates. Open this
// file to change which templates use an entry of the table.
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/text/chat_template.h"
#include "engine/text/template_process.h"

#include <string>

namespace spanscope::text {

/// The place of errors about template variables (Error::place).
inline constexpr const char* kVariablesPlace = "template variables";

/// Whether an error about a template means that the checkpoint has no template, or lacks its file.
bool isMissingTemplate(const Error& error);

/// Returns the template that the Jinja text `source` defines with these variables (a JSON object). Spanscope
/// keeps every result until the process ends. Throws Failure if the template cannot render short
/// conversations.
const ChatTemplate& programTemplateOf(const std::string& source, const std::string& variables);

/// `chat`: a result of programTemplateOf(). Returns the entry of the table that writes short conversations
/// exactly like the template, or null. Messages with reasoning are not compared: entries keep it.
const ChatTemplate* entryLike(const ChatTemplate& chat);

/// Returns the special tokens of a checkpoint's tokenizer as a JSON object: {"bos_token": "<s>", …}.
/// Templates use these variables. Throws Failure for damaged files.
std::string templateTokens(const checkpoint::Checkpoint& checkpoint);

/// Returns a JSON object with the members of both objects. Members of `variables` replace equal members. An
/// empty text is an object without members. A text that is not a JSON object is returned unchanged.
std::string withVariables(const std::string& tokens, const std::string& variables);

}  // namespace spanscope::text
