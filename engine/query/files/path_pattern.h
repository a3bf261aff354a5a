// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns of file paths: * stands for any characters of one name, ? for one character, ** as a whole name
// for any number of folders, none included. Everything else stands for itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

bool isPathPattern(std::string_view path);

/// A path at its slashes; empty names are left out.
std::vector<std::string_view> pathNames(std::string_view path);

/// Whether a name fits the pattern of a name. Time is at most the product of their lengths.
bool nameFits(std::string_view name, std::string_view pattern);

/// Whether the names of a path fit those of a pattern, all of them. Time is at most the product of their
/// lengths.
bool pathFits(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern);

}  // namespace spanscope::query
