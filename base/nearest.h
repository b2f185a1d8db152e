#pragma once
// What a mistyped word was probably meant to be.
#include <optional>
#include <string>
#include <vector>

namespace regraft {

/// The word that takes the fewest changes (a character more, less or other, or two neighbours
/// exchanged: Damerau's distance between strings), if these are at most a third of the longer one's
/// length; of several the first. Case counts as no change. Where there is none, the shortest word
/// that begins so, if that is four characters or more.
std::optional<std::string> nearest(const std::string& mistyped,
                                   const std::vector<std::string>& words);

/// "; did you mean 'greedy'?", or nothing where no word is near.
std::string suggestion(const std::string& mistyped, const std::vector<std::string>& words);

/// The same for a file that is not there: one of its folder that ends alike; nothing where the file
/// is there, or has no ending.
std::string suggested_file(const std::string& path);

}  // namespace regraft
