// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson as one web page that needs nothing beside it: text, figures and a picture of each run, in light
// and dark as the reader's system is. It has no script, and texts from outside are escaped.
#pragma once

#include "engine/lesson/filled.h"
#include "engine/lesson/lesson_run.h"
#include "engine/trace/run_facts.h"

#include <string>
#include <string_view>

namespace spanscope::lesson {

std::string pageOf(const FilledLesson& lesson, const LessonFacts& facts);

/// The prompts of a run as SVG: a line each, whose boxes are the blocks, as wide as they have tokens, by how
/// their tokens were served. Colours are those of the page's style sheet; patterns say the same.
std::string promptPicture(const trace::RunFacts& run, std::string_view title);

/// Markdown as lessons use it (paragraphs, lists, fenced code, emphasis, code, links) as HTML. Whatever else
/// is shown as it stands. A link to a part of the query becomes its words.
std::string htmlOf(std::string_view markdown);

}  // namespace spanscope::lesson
