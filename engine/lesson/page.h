// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson as one web page that needs nothing beside it: text, figures, a picture of each run and, where they
// are given, pictures of views, in light and dark as the reader's system is. It has no script, and texts from
// outside are escaped.
#pragma once

#include "engine/lesson/filled.h"
#include "engine/lesson/lesson_run.h"
#include "engine/metrics/run_facts.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::lesson {

/// A picture of a view, as it is at the end of a step.
struct PagePicture {
  std::string title;
  std::string light;  ///< an SVG document
  std::string dark;
};

/// Bytes that the pictures of views take in a page at most.
inline constexpr std::size_t kMostPictureBytes = 4'500'000;

/// `pictures`: of views, by the number of their step. Where they take more than kMostPictureBytes, the
/// largest are left out, and the page says so in their places.
std::string pageOf(const FilledLesson& lesson, const LessonFacts& facts,
                   const std::map<std::size_t, std::vector<PagePicture>>& pictures = {});

/// The prompts of a run as SVG: a line each, whose boxes are the blocks, as wide as they have tokens, by how
/// their tokens were served. Colours are those of the page's style sheet; patterns say the same.
std::string promptPicture(const metrics::RunFacts& run, std::string_view title);

/// Markdown as lessons use it (paragraphs, lists, fenced code, emphasis, code, links) as HTML. Whatever else
/// is shown as it stands. A link to a part of the query becomes its words.
std::string htmlOf(std::string_view markdown);

}  // namespace spanscope::lesson
