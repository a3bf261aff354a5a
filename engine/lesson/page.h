// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a lesson as one web page without other files. The page has text, metrics, a picture of each run and
// optional pictures of views. The page follows the reader's light or dark style, and has no script. Texts
// from other sources are escaped. Open this file to change the page.
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

/// A picture of a view at the end of a step.
struct PagePicture {
  std::string title;
  std::string light;  ///< an SVG document
  std::string dark;
};

/// Max number of bytes of the pictures of views in a page.
inline constexpr std::size_t kMostPictureBytes = 4'500'000;

/// `pictures` are views, by the number of their step. If the pictures take more than kMostPictureBytes, the
/// largest pictures are left out. The page has a note in place of each such picture.
std::string pageOf(const FilledLesson& lesson, const LessonFacts& facts,
                   const std::map<std::size_t, std::vector<PagePicture>>& pictures = {});

/// Returns the prompts of a run as SVG, one line each. The boxes are the blocks. The width of a box is the
/// number of tokens. The style of a box shows how these tokens were served. Colours are those of the page's
/// style sheet. Patterns show the same facts as colours.
std::string promptPicture(const metrics::RunFacts& run, std::string_view title);

/// Returns Markdown of lessons (paragraphs, lists, fenced code, emphasis, code, links) as HTML. Other
/// Markdown is shown as it is. A link to an https address stays a link. The page shows the text of any other
/// link with emphasis, without a link.
std::string htmlOf(std::string_view markdown);

}  // namespace spanscope::lesson
