// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace spanscope {

/// A text as it stands between the tags, or in the quoted attributes, of HTML and XML (SVG): &, <, > and both
/// quotation marks are written as entities.
std::string escapedMarkup(std::string_view text);

}  // namespace spanscope
