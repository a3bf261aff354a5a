// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns of file paths. * stands for any characters of one name, and ? for one character. ** as a whole
// name stands for any number of folders, also none. Every other character stands for itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

bool isPathPattern(std::string_view path);

/// Splits a path at its slashes; empty names are left out.
std::vector<std::string_view> pathNames(std::string_view path);

/// Whether a name fits the pattern of a name. The time is at most proportional to the product of their
/// lengths.
bool nameFits(std::string_view name, std::string_view pattern);

/// Whether all names of a path fit the names of a pattern. The time is at most proportional to the product of
/// their lengths.
bool pathFits(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern);

}  // namespace spanscope::query
