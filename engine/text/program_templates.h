// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the templates that Jinja renders, and compares them with the table. Open this file to change which
// templates use an entry of the table.
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/text/chat_template.h"
#include "engine/text/template_process.h"

#include <string>

namespace spanscope::text {

/// The place of errors about template variables (Error::place).
inline constexpr const char* kVariablesPlace = "template variables";

/// Whether an error about a template means that the checkpoint has none, or not the file for it.
bool isMissingTemplate(const Error& error);

/// Returns the template that is this program of Jinja with these variables (a JSON object). The program keeps
/// every result, so that the result has the lifetime of the program. Throws Failure if the template cannot
/// render short conversations.
const ChatTemplate& programTemplateOf(const std::string& source, const std::string& variables);

/// `chat`: a result of programTemplateOf(). Returns the entry of the table that writes short conversations
/// exactly like the template, or null. Contents with reasoning are not compared: entries keep reasoning.
const ChatTemplate* entryLike(const ChatTemplate& chat);

/// Returns the special tokens of a checkpoint's tokenizer as a JSON object: {"bos_token": "<s>", …}.
/// Templates use these variables. Throws Failure for damaged files.
std::string templateTokens(const checkpoint::Checkpoint& checkpoint);

/// Returns a JSON object with the members of both objects. Members of `variables` replace equal members. An
/// empty text is an object without members. A text that is not a JSON object is returned unchanged.
std::string withVariables(const std::string& tokens, const std::string& variables);

}  // namespace spanscope::text
