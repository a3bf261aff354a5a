// SPDX-License-Identifier: GPL-3.0-or-later
// Composes the sentence of an error or a warning about an input. Open this file to change how every such
// sentence is worded.
#pragma once

#include "engine/base/error.h"

#include <string>
#include <string_view>

namespace spanscope {

/// Returns "Spanscope found X, but needs Y", or "… but expects Y" for a warning or a note.
///
/// `found` and `expected` are noun phrases, e.g. "the number 9" and "a number from 0 to 5". Each can also be
/// one or more whole sentences, e.g. "This file does not exist." and "Check the path.". A whole sentence has
/// a capital letter and a final period. The function joins whole sentences unchanged. `hint` follows as a
/// sentence of its own. Each part may be empty. The result has a final period only if the result has more
/// than one sentence. The result can have line breaks if a part has line breaks.
std::string problemSentence(std::string_view found, std::string_view expected, std::string_view hint = {},
                            Severity severity = Severity::Error);

/// Returns the text with a final period, unless the text already ends a sentence. Another sentence may
/// follow.
std::string withPeriod(std::string text);

/// Returns the message of a system error as a sentence, e.g. "The system reports: Permission denied.".
/// `number` is a value of errno.
std::string systemReport(int number);

}  // namespace spanscope
