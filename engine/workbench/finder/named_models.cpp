// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/named_models.h"

#include "engine/base/error.h"
#include "engine/workbench/finder/recent_models.h"
#include "engine/workbench/resource_paths.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace spanscope::workbench {
namespace {

/// Words that do not change the tokenizer.
constexpr std::array<std::string_view, 13> kFormatWords{"gguf", "latest", "bf16", "fp16", "f16", "f32", "fp8",
                                                        "awq",  "gptq",   "int4", "int8", "mlx", "4bit"};
/// Words that many names leave out.
constexpr std::array<std::string_view, 3> kKindWords{"instruct", "chat", "it"};

template <std::size_t N>
bool isOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// "q4", "iq3", and what follows: "k", "m", "0".
bool isQuantization(std::string_view word) {
  if (word.starts_with("i")) word.remove_prefix(1);
  return word.size() >= 2 && word.size() <= 3 && word[0] == 'q' &&
         std::isdigit(static_cast<unsigned char>(word[1])) != 0;
}

/// The letters and digits of a name that tell models apart.
std::string plainName(std::string_view name, bool keepsKind) {
  if (const std::size_t slash = name.find_last_of("/\\"); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  std::string plain;
  std::string word;
  bool isAfterFormat = false;
  const auto end = [&] {
    const bool isFormat = isOneOf(word, kFormatWords) || isQuantization(word);
    const bool isRest = isAfterFormat && word.size() <= 2;
    if (!isFormat && !isRest && (keepsKind || !isOneOf(word, kKindWords))) plain += word;
    isAfterFormat = isAfterFormat || isQuantization(word);
    word.clear();
  };
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      word += static_cast<char>(std::tolower(byte));
    else
      end();
  }
  end();
  return plain;
}

}  // namespace

ModelFolders foldersOfUser() {
  ModelFolders folders = foldersOfTools(processEnvironment());
  if (const std::filesystem::path file = standardRecentModelsFile(); !file.empty())
    folders.recent = RecentModels(file).list();
  try {
    folders.bundled = bundledModelDirectory().parent_path();
  } catch (const Failure&) {
    // The other folders can still have the model.
  }
  return folders;
}

std::optional<std::filesystem::path> modelNamed(const std::vector<ModelPlace>& places,
                                                std::string_view name) {
  constexpr std::size_t kLeast = 3;  // letters of a name that means a model
  for (const bool keepsKind : {true, false}) {
    const std::string wanted = plainName(name, keepsKind);
    if (wanted.size() < kLeast) return {};
    for (const ModelPlace& place : places)
      if (!place.path.empty() && (plainName(place.name, keepsKind) == wanted ||
                                  plainName(place.path.filename().string(), keepsKind) == wanted))
        return place.path;
  }
  return {};
}

}  // namespace spanscope::workbench
