// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/model_directory.h"

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

namespace spanscope::text {
namespace {

constexpr const char* kDirectory =
    "a Hugging Face model directory: config.json, *.safetensors, a tokenizer and its tokenizer_config.json";

bool isGguf(const std::filesystem::path& path) {
  constexpr std::string_view kMagic = "GGUF";
  std::array<char, kMagic.size()> bytes{};
  std::ifstream stream(path, std::ios::binary);
  return stream.read(bytes.data(), bytes.size()) && std::string_view(bytes.data(), bytes.size()) == kMagic;
}

}  // namespace

void requireModelDirectory(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(directory, error);
  if (std::filesystem::is_directory(status)) return;
  if (std::filesystem::is_regular_file(status) && isGguf(directory)) throw ggufIsNoCheckpoint(directory);
  if (std::filesystem::exists(status)) throw Failure({directory.string(), "", "no directory", kDirectory});
  const bool missing = status.type() == std::filesystem::file_type::not_found;
  throw Failure({directory.string(), "",
                 missing ? "no such directory" : "a directory that cannot be read (" + error.message() + ")",
                 kDirectory});
}

Failure ggufIsNoCheckpoint(const std::filesystem::path& file) {
  return Failure(
      {file.string(), "",
       "a GGUF file, of which the vocabulary and the chat template are read, but not yet the weights",
       "the same model as a Hugging Face directory: config.json and *.safetensors in F32, F16 or "
       "BF16; a GGUF file may lie in it for the tokenizer"});
}

}  // namespace spanscope::text
